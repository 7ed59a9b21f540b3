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

constexpr std::size_t kMaxOperations = 10'000;
constexpr std::size_t kMaxCopied = 8'000'000;  // bytes that "copy" may make in one patch

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

JsonValue* child(JsonValue& value, const std::string& token) {
  if (value.kind == Kind::kObject) return const_cast<JsonValue*>(value.find(token));
  if (value.kind != Kind::kArray) return nullptr;
  const auto index = index_of(token, value.items.size());
  return index ? &value.items[*index] : nullptr;
}

JsonValue* resolve(JsonValue& root, std::string_view pointer) {
  JsonValue* here = &root;
  while (!pointer.empty() && here != nullptr) {
    if (pointer.front() != '/') return nullptr;
    pointer.remove_prefix(1);
    const std::size_t end = std::min(pointer.find('/'), pointer.size());
    here = child(*here, unescape_token(pointer.substr(0, end)));
    pointer.remove_prefix(end);
  }
  return here;
}

bool add_at(JsonValue& root, std::string_view pointer, JsonValue value) {
  if (pointer.empty()) {
    root = std::move(value);
    return true;
  }
  const std::size_t slash = pointer.rfind('/');
  if (slash == std::string_view::npos) return false;
  JsonValue* parent = resolve(root, pointer.substr(0, slash));
  if (parent == nullptr) return false;
  const std::string last = unescape_token(pointer.substr(slash + 1));
  if (parent->kind == Kind::kObject) {
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
  parent->items.insert(parent->items.begin() + static_cast<std::ptrdiff_t>(*index),
                       std::move(value));
  return true;
}

bool remove_at(JsonValue& root, std::string_view pointer) {
  const std::size_t slash = pointer.rfind('/');
  if (slash == std::string_view::npos) return false;
  JsonValue* parent = resolve(root, pointer.substr(0, slash));
  if (parent == nullptr) return false;
  const std::string last = unescape_token(pointer.substr(slash + 1));
  if (child(*parent, last) == nullptr) return false;
  if (parent->kind == Kind::kObject) {
    erase(*parent, last);
  } else {
    const auto index = index_of(last, parent->items.size());
    parent->items.erase(parent->items.begin() + static_cast<std::ptrdiff_t>(*index));
  }
  return true;
}

bool apply_operation(JsonValue& object, const JsonValue& operation, std::size_t& copied) {
  const std::string op(text_at(operation, "op"));
  const std::string path(text_at(operation, "path"));
  const std::string from(text_at(operation, "from"));
  const JsonValue* value = operation.find("value");
  const JsonValue given = value != nullptr ? *value : JsonValue();
  if (op == "add") return add_at(object, path, given);
  if (op == "remove") return remove_at(object, path);
  if (op == "replace") {
    JsonValue* target = resolve(object, path);
    if (target == nullptr) return false;
    *target = given;
    return true;
  }
  if (op == "test") {
    const JsonValue* target = resolve(object, path);
    if (target == nullptr) return given.is_null();
    return equal(*target, given);
  }
  if (op == "move" || op == "copy") {
    // Into itself: there would be no place to put it.
    if (op == "move" && path.starts_with(from + "/")) return false;
    const JsonValue* source = resolve(object, from);
    if (source == nullptr) return false;
    JsonValue moved = *source;
    copied += to_json(moved).size();
    if (copied > kMaxCopied) return false;
    if (op == "move" && !remove_at(object, from)) return false;
    return add_at(object, path, std::move(moved));
  }
  return false;
}

}  // namespace

Answer<void> apply_json_patch(JsonValue& object, const JsonValue& patch) {
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
  std::size_t copied = 0;
  for (const JsonValue& operation : patch.items)
    if (!apply_operation(object, operation, copied)) return refuse(does_not_fit());
  return {};
}

void apply_merge_patch(JsonValue& object, const JsonValue& patch) {
  if (patch.kind != Kind::kObject) {
    object = patch;
    return;
  }
  if (object.kind != Kind::kObject) object = JsonValue::object();
  for (const JsonMember& member : patch.members) {
    if (member.value.is_null()) {
      erase(object, member.name);
      continue;
    }
    JsonValue* target = const_cast<JsonValue*>(object.find(member.name));
    if (target == nullptr) {
      object.add(member.name, JsonValue());
      target = &object.members.back().value;
    }
    apply_merge_patch(*target, member.value);
  }
}

}  // namespace berth::memapi
