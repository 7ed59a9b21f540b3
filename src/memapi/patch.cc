#include "memapi/patch.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "memapi/json_edit.h"
#include "memapi/json_lookup.h"

namespace berth::memapi {
namespace {

using Kind = JsonValue::Kind;

constexpr std::size_t kMaxCopied = 8'000'000;  // bytes that "copy" and "move" may write
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

// A place among `size` of them, the last of which is -1.
// Parity: RFC 6902 has no negative index; the library behind kube-apiserver counts them from the end.
std::optional<std::size_t> index_of(std::string_view token, std::size_t size) {
  if (token.starts_with('+') && !token.starts_with("+-")) token.remove_prefix(1);
  std::ptrdiff_t index = 0;
  const auto [stop, error] = std::from_chars(token.data(), token.data() + token.size(), index);
  if (error != std::errc() || stop != token.data() + token.size()) return std::nullopt;
  if (index < 0) index += static_cast<std::ptrdiff_t>(size);
  if (index < 0 || static_cast<std::size_t>(index) >= size) return std::nullopt;
  return static_cast<std::size_t>(index);
}

// A value that operations look into. It is split into its parts, members by name, the first time that an
// operation looks inside: later ones cost what they change, however many members there are.
class PatchedValue {
 public:
  explicit PatchedValue(JsonValue value = {}) : value_(std::move(value)) {}

  // As it is now.
  JsonValue whole() const;

  Kind kind() const { return value_.kind; }
  // Null when there is none. `token` is a name or, of a list, a number.
  PatchedValue* child(const std::string& token, PatchWork& work);
  // False when there is no such place.
  bool add(const std::string& token, JsonValue value, PatchWork& work);
  bool remove(const std::string& token, PatchWork& work);

 private:
  void split(PatchWork& work);

  JsonValue value_;  // when it is split, without its parts
  bool is_split_ = false;
  std::map<std::string, std::unique_ptr<PatchedValue>, std::less<>> members_;
  std::vector<std::unique_ptr<PatchedValue>> items_;
};

void PatchedValue::split(PatchWork& work) {
  if (std::exchange(is_split_, true)) return;
  work.add(value_.members.size() + value_.items.size());
  for (JsonMember& member : value_.members)
    members_.insert_or_assign(std::move(member.name),
                              std::make_unique<PatchedValue>(std::move(member.value)));
  for (JsonValue& item : value_.items)
    items_.push_back(std::make_unique<PatchedValue>(std::move(item)));
  value_.members.clear();
  value_.items.clear();
}

JsonValue PatchedValue::whole() const {
  JsonValue whole = value_;
  for (const auto& [name, member] : members_) whole.add(name, member->whole());
  for (const auto& item : items_) whole.items.push_back(item->whole());
  return whole;
}

PatchedValue* PatchedValue::child(const std::string& token, PatchWork& work) {
  split(work);
  if (kind() == Kind::kObject) {
    const auto found = members_.find(token);
    return found == members_.end() ? nullptr : found->second.get();
  }
  if (kind() != Kind::kArray) return nullptr;
  const auto index = index_of(token, items_.size());
  return index ? items_[*index].get() : nullptr;
}

bool PatchedValue::add(const std::string& token, JsonValue value, PatchWork& work) {
  split(work);
  auto added = std::make_unique<PatchedValue>(std::move(value));
  if (kind() == Kind::kObject) {
    members_.insert_or_assign(token, std::move(added));
    return true;
  }
  if (kind() != Kind::kArray) return false;
  const auto index =
      token == "-" ? std::optional(items_.size()) : index_of(token, items_.size() + 1);
  if (!index) return false;
  work.add(items_.size() - *index);
  items_.insert(items_.begin() + static_cast<std::ptrdiff_t>(*index), std::move(added));
  return true;
}

bool PatchedValue::remove(const std::string& token, PatchWork& work) {
  split(work);
  if (kind() == Kind::kObject) return members_.erase(token) > 0;
  if (kind() != Kind::kArray) return false;
  const auto index = index_of(token, items_.size());
  if (!index) return false;
  work.add(items_.size() - *index);
  items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(*index));
  return true;
}

// One patch at work on one object.
class JsonPatching {
 public:
  JsonPatching(JsonValue object, PatchWork& work) : root_(std::move(object)), work_(work) {}

  bool apply(const JsonValue& operation);
  JsonValue whole() const { return root_.whole(); }

 private:
  PatchedValue* resolve(std::string_view pointer);
  bool add_at(std::string_view pointer, JsonValue value);
  bool remove_at(std::string_view pointer);
  bool move_or_copy(std::string_view from, std::string_view path, bool move);

  PatchedValue root_;
  PatchWork& work_;
  std::size_t copied_ = 0;
};

PatchedValue* JsonPatching::resolve(std::string_view pointer) {
  PatchedValue* here = &root_;
  while (!pointer.empty() && here != nullptr) {
    if (pointer.front() != '/') return nullptr;
    pointer.remove_prefix(1);
    const std::size_t end = std::min(pointer.find('/'), pointer.size());
    here = here->child(unescape_token(pointer.substr(0, end)), work_);
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
    root_ = PatchedValue(std::move(value));
    return true;
  }
  const std::size_t slash = pointer.rfind('/');
  if (slash == std::string_view::npos) return false;
  PatchedValue* parent = resolve(pointer.substr(0, slash));
  return parent != nullptr &&
         parent->add(unescape_token(pointer.substr(slash + 1)), std::move(value), work_);
}

bool JsonPatching::remove_at(std::string_view pointer) {
  const std::size_t slash = pointer.rfind('/');
  if (slash == std::string_view::npos) return false;
  PatchedValue* parent = resolve(pointer.substr(0, slash));
  return parent != nullptr && parent->remove(unescape_token(pointer.substr(slash + 1)), work_);
}

bool JsonPatching::move_or_copy(std::string_view from, std::string_view path, bool move) {
  // Into itself: there would be no place to put it.
  if (move && path.starts_with(std::string(from) + "/")) return false;
  const PatchedValue* source = resolve(from);
  if (source == nullptr) return false;
  JsonValue moved = source->whole();
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
    PatchedValue* target = resolve(path);
    if (target == nullptr || !may_nest(path, given)) return false;
    *target = PatchedValue(given);
    return true;
  }
  if (op == "test") {
    // Writing the target out is no more work than the patch is long: if it is longer than `given`, they
    // differ, and the patch ends here.
    const PatchedValue* target = resolve(path);
    if (target == nullptr) return given.is_null();
    return equal(target->whole(), given);
  }
  if (op == "move" || op == "copy") return move_or_copy(from, path, op == "move");
  return false;
}

Answer<void> merge_into(JsonValue& object, const JsonValue& patch, PatchWork& work) {
  if (patch.kind != Kind::kObject) {
    object = patch;
    return {};
  }
  MemberTable members(object, work);
  work.add(patch.members.size());
  if (work.too_much()) return refuse(PatchWork::error());
  for (const JsonMember& member : patch.members) {
    if (member.value.is_null()) {
      members.erase(member.name);
      continue;
    }
    auto merged = merge_into(members.find_or_add(member.name), member.value, work);
    if (!merged) return merged;
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

JsonValue without_duplicates(JsonValue patch) {
  sort_members(patch);
  return patch;
}

Answer<void> apply_json_patch(JsonValue& object, const JsonValue& patch, PatchWork work) {
  if (patch.kind != Kind::kArray) {
    return refuse(ApiError::bad_request(
        "error decoding patch: json: cannot unmarshal object into Go value of type "
        "[]handlers.jsonPatchOp"));
  }
  if (patch.items.size() > kMaxOperations) {
    ApiError error = ApiError::bad_request(
        fmt::format("The allowed maximum operations in a JSON patch is {}, got {}", kMaxOperations,
                    patch.items.size()));
    error.code = 413;
    error.reason = "RequestEntityTooLarge";
    return refuse(std::move(error));
  }
  JsonPatching patching(object, work);  // a copy: what is refused changes nothing
  for (const JsonValue& operation : patch.items) {
    if (!patching.apply(operation)) return refuse(does_not_fit());
    if (work.too_much()) return refuse(PatchWork::error());
  }
  object = patching.whole();
  return {};
}

Answer<void> apply_merge_patch(JsonValue& object, const JsonValue& patch, PatchWork work) {
  return merge_into(object, without_duplicates(patch), work);
}

}  // namespace berth::memapi
