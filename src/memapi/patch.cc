#include "memapi/patch.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "memapi/json_edit.h"

namespace berth::memapi {
namespace {

using Kind = JsonValue::Kind;

constexpr std::size_t kMaxCopied = 8'000'000;  // bytes that "copy" may make in one patch
constexpr std::size_t kMaxOperations = 10'000;

ApiError does_not_fit() {
  ApiError error;
  error.code = 422;
  error.reason = "Invalid";
  error.message = "the server rejected our request due to an error in our request";
  error.has_details = true;
  return error;
}

std::string unescape_token(std::string_view token) {
  std::string out;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] == '~' && i + 1 < token.size() && (token[i + 1] == '0' || token[i + 1] == '1')) {
      out += token[++i] == '0' ? '~' : '/';
    } else {
      out += token[i];
    }
  }
  return out;
}

// `size` itself only where something may be added at the end.
std::optional<std::size_t> index_of(std::string_view token, std::size_t size) {
  std::size_t index = 0;
  const auto [stop, error] = std::from_chars(token.data(), token.data() + token.size(), index);
  if (error != std::errc() || stop != token.data() + token.size() || index >= size)
    return std::nullopt;
  return index;
}

// One patch at work on one object.
class JsonPatching {
 public:
  JsonPatching(JsonValue& object, PatchWork& work) : root_(object), work_(work) {}

  bool apply(const JsonValue& operation);

 private:
  JsonValue* child(JsonValue& value, const std::string& token);
  JsonValue* resolve(std::string_view pointer);
  bool add_at(std::string_view pointer, JsonValue value);
  bool remove_at(std::string_view pointer);
  bool move_or_copy(std::string_view from, std::string_view path, bool move);

  JsonValue& root_;
  PatchWork& work_;
  std::size_t copied_ = 0;
};

JsonValue* JsonPatching::child(JsonValue& value, const std::string& token) {
  work_.add(value.members.size());
  if (value.kind == Kind::kObject) return const_cast<JsonValue*>(value.find(token));
  if (value.kind != Kind::kArray) return nullptr;
  const auto index = index_of(token, value.items.size());
  return index ? &value.items[*index] : nullptr;
}

JsonValue* JsonPatching::resolve(std::string_view pointer) {
  JsonValue* here = &root_;
  while (!pointer.empty() && here != nullptr) {
    if (pointer.front() != '/') return nullptr;
    pointer.remove_prefix(1);
    const std::size_t end = std::min(pointer.find('/'), pointer.size());
    here = child(*here, unescape_token(pointer.substr(0, end)));
    pointer.remove_prefix(end);
  }
  return here;
}

// Whether something so deep may be put there: what is stored must be readable again.
bool may_nest(std::string_view pointer, const JsonValue& value) {
  const auto above = static_cast<std::size_t>(std::ranges::count(pointer, '/'));
  return above <= kMaxObjectNesting && !nests_deeper(value, kMaxObjectNesting - above);
}

bool JsonPatching::add_at(std::string_view pointer, JsonValue value) {
  if (!may_nest(pointer, value)) return false;
  if (pointer.empty()) {
    root_ = std::move(value);
    return true;
  }
  const std::size_t slash = pointer.rfind('/');
  if (slash == std::string_view::npos) return false;
  JsonValue* parent = resolve(pointer.substr(0, slash));
  if (parent == nullptr) return false;
  const std::string last = unescape_token(pointer.substr(slash + 1));
  if (parent->kind == Kind::kObject) {
    work_.add(parent->members.size());
    set(*parent, last, std::move(value));
    return true;
  }
  if (parent->kind != Kind::kArray) return false;
  if (last == "-") {
    parent->items.push_back(std::move(value));
    return true;
  }
  const auto index = index_of(last, parent->items.size() + 1);
  if (!index) return false;
  work_.add(parent->items.size() - *index);
  parent->items.insert(parent->items.begin() + static_cast<std::ptrdiff_t>(*index),
                       std::move(value));
  return true;
}

bool JsonPatching::remove_at(std::string_view pointer) {
  const std::size_t slash = pointer.rfind('/');
  if (slash == std::string_view::npos) return false;
  JsonValue* parent = resolve(pointer.substr(0, slash));
  if (parent == nullptr) return false;
  const std::string last = unescape_token(pointer.substr(slash + 1));
  if (child(*parent, last) == nullptr) return false;
  if (parent->kind == Kind::kObject) {
    work_.add(parent->members.size());
    erase(*parent, last);
  } else {
    const auto index = index_of(last, parent->items.size());
    work_.add(parent->items.size() - *index);
    parent->items.erase(parent->items.begin() + static_cast<std::ptrdiff_t>(*index));
  }
  return true;
}

bool JsonPatching::move_or_copy(std::string_view from, std::string_view path, bool move) {
  // Into itself: there would be no place to put it.
  if (move && path.starts_with(std::string(from) + "/")) return false;
  const JsonValue* source = resolve(from);
  if (source == nullptr) return false;
  JsonValue moved = *source;
  copied_ += to_json(moved).size();
  if (copied_ > kMaxCopied) return false;
  if (move && !remove_at(from)) return false;
  return add_at(path, std::move(moved));
}

bool JsonPatching::apply(const JsonValue& operation) {
  const std::string_view op = text_at(operation, "op");
  const std::string_view path = text_at(operation, "path");
  const std::string_view from = text_at(operation, "from");
  const JsonValue* value = operation.find("value");
  const JsonValue given = value != nullptr ? *value : JsonValue();
  if (op == "add") return add_at(path, given);
  if (op == "remove") return remove_at(path);
  if (op == "replace") {
    JsonValue* target = resolve(path);
    if (target == nullptr || !may_nest(path, given)) return false;
    *target = given;
    return true;
  }
  if (op == "test") {
    const JsonValue* target = resolve(path);
    if (target == nullptr) return given.is_null();
    return equal(*target, given);
  }
  if (op == "move" || op == "copy") return move_or_copy(from, path, op == "move");
  return false;
}

// `object` may be looked through once for each member of the patch.
Answer<void> merge_into(JsonValue& object, const JsonValue& patch, PatchWork& work) {
  if (patch.kind != Kind::kObject) {
    object = patch;
    return {};
  }
  if (object.kind != Kind::kObject) object = JsonValue::object();
  for (const JsonMember& member : patch.members) {
    work.add(object.members.size());
    if (work.too_much()) return refuse(PatchWork::error());
    if (member.value.is_null()) {
      erase(object, member.name);
      continue;
    }
    JsonValue* target = const_cast<JsonValue*>(object.find(member.name));
    if (target == nullptr) {
      object.add(member.name, JsonValue());
      target = &object.members.back().value;
    }
    if (auto merged = merge_into(*target, member.value, work); !merged) return merged;
  }
  return {};
}

}  // namespace

ApiError PatchWork::error() {
  ApiError error = ApiError::bad_request("the patch takes too much work for an object so large");
  error.code = 413;
  error.reason = "RequestEntityTooLarge";
  return error;
}

Answer<void> apply_json_patch(JsonValue& object, const JsonValue& patch, PatchWork work) {
  if (patch.kind != Kind::kArray) {
    return refuse(ApiError::bad_request(
        "error decoding patch: json: cannot unmarshal object into Go value of type "
        "jsonpatch.Patch"));
  }
  if (patch.items.size() > kMaxOperations) {
    ApiError error = ApiError::bad_request(
        fmt::format("The allowed maximum operations in a JSON patch is {}, got {}", kMaxOperations,
                    patch.items.size()));
    error.code = 413;
    error.reason = "RequestEntityTooLarge";
    return refuse(std::move(error));
  }
  JsonPatching patching(object, work);
  for (const JsonValue& operation : patch.items) {
    if (!patching.apply(operation)) return refuse(does_not_fit());
    if (work.too_much()) return refuse(PatchWork::error());
  }
  return {};
}

Answer<void> apply_merge_patch(JsonValue& object, const JsonValue& patch, PatchWork work) {
  return merge_into(object, patch, work);
}

}  // namespace berth::memapi
