#include "api/manifest_walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "api/decode.h"
#include "api/defaulting.h"
#include "wire/json_reader.h"
#include "wire/json_scanner.h"
#include "wire/yaml.h"

namespace berth {
namespace {

// Lists of lists of lists: somebody is joking.
constexpr int kMaxListDepth = 8;

// A shorter text is read as a whole: whatever is wrong with it is said as for YAML, of which JSON is
// a part. What begins with so much JSON was not meant to be YAML.
constexpr std::size_t kShort = std::size_t{1} << 20;

// Appends what there is, up to `most` characters in all.
Result<void> read_up_to(TextSource& source, std::string& text, std::size_t most) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  for (;;) {
    const std::size_t size = text.size();
    if (size >= most) return {};
    text.resize(size + std::min(kPiece, most - size));
    const Result<std::size_t> read = source.read(text.data() + size, text.size() - size);
    text.resize(size + read.value_or(0));
    if (!read) return fail(read.error());
    if (*read == 0) return {};
  }
}

bool begins_as_json(std::string_view text) {
  JsonScanner json(text);
  json.skip_space();
  return json.object(1) || json.is_cut_off();
}

// The text of a string that is written without escapes.
bool plain_text(std::string_view json, std::string& text) {
  if (json.size() < 2 || json[0] != '"' || json.find('\\') != json.npos) return false;
  text = json.substr(1, json.size() - 2);
  return true;
}

enum class Look : std::uint8_t { kOn, kEnough, kOdd };

// Calls on_member(name, value as JSON) for the members of an object that was found to be JSON, for as
// long as it wants to look on. kOdd: it is no object, or on_member says so.
template <typename OnMember>
Look each_member(std::string_view object, OnMember&& on_member) {
  JsonScanner json(object);
  if (!json.take('{')) return Look::kOdd;
  json.skip_space();
  if (json.take('}')) return Look::kOn;
  do {
    json.skip_space();
    std::string_view name;
    if (!json.name(name)) return Look::kOdd;
    json.skip_space();
    const std::size_t begin = json.position();
    if (!json.value(1)) return Look::kOdd;
    const Look look = on_member(name, object.substr(begin, json.position() - begin));
    if (look != Look::kOn) return look;
    json.skip_space();
  } while (json.take(','));
  return Look::kOn;
}

}  // namespace

std::string shown(const ManifestObject& object) {
  return object.namespace_name.empty()
             ? fmt::format("{} {}", object.kind_text, object.name)
             : fmt::format("{} {}/{}", object.kind_text, object.namespace_name, object.name);
}

std::unexpected<Error> fail_in(std::string_view where, const Error& error) {
  return fail(error.kind, fmt::format("{}: {}", where, error.message));
}

std::unexpected<Error> fail_in(const ManifestObject& object, const Error& error) {
  return fail_in(fmt::format("{}: {}", object.where, shown(object)), error);
}

Result<ManifestWalk::Head> ManifestWalk::read_head(std::string_view object) {
  Head head;
  // Nearly all objects are plain, and what tells them apart stands first.
  const auto on_metadata = [&head](std::string_view name, std::string_view value) {
    std::string* text = name == "namespace"      ? &head.namespace_name
                        : name == "name"         ? &head.name
                        : name == "generateName" ? &head.generate_name
                                                 : nullptr;
    return text == nullptr || plain_text(value, *text) ? Look::kOn : Look::kOdd;
  };
  bool has_metadata = false;
  const auto on_member = [&](std::string_view name, std::string_view value) {
    if (name == "apiVersion") {
      if (!plain_text(value, head.api_version)) return Look::kOdd;
    } else if (name == "kind") {
      if (!plain_text(value, head.kind) || head.kind.ends_with("List")) return Look::kOdd;
    } else if (name == "metadata") {
      if (each_member(value, on_metadata) == Look::kOdd) return Look::kOdd;
      has_metadata = true;
    } else if (name == "items") {
      return Look::kOdd;
    }
    const bool enough = has_metadata && !head.kind.empty() && !head.api_version.empty();
    return enough ? Look::kEnough : Look::kOn;
  };
  if (each_member(object, on_member) != Look::kOdd) return head;

  head = {};
  JsonReader json(object);
  json.fields([&](std::string_view name) {
    if (name == "apiVersion") {
      head.api_version = json.text();
    } else if (name == "kind") {
      head.kind = json.text();
    } else if (name == "items") {
      head.items = json.raw();
    } else if (name == "metadata") {
      json.fields([&](std::string_view field) {
        if (field == "namespace") {
          head.namespace_name = json.text();
        } else if (field == "name") {
          head.name = json.text();
        } else if (field == "generateName") {
          head.generate_name = json.text();
        }
      });
    }
  });
  if (json.error()) return fail(*json.error());
  return head;
}

Result<void> ManifestWalk::walk(std::string_view text, const std::string& file_name) {
  file_name_ = file_name;
  documents_ = counter_ = 0;
  generated_.clear();
  return read_documents(text, 0);
}

Result<void> ManifestWalk::walk(TextSource& source, const std::string& file_name) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  file_name_ = file_name;
  documents_ = counter_ = 0;
  generated_.clear();
  std::string text;
  if (Result<void> read = read_up_to(source, text, kShort); !read) return read;
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  std::size_t lines_before = 0;
  if (text.size() >= kShort - kByteOrderMark.size() && begins_as_json(text)) {
    JsonStream json(source, std::move(text));
    failure_.reset();
    if (Result<void> read = json.read(*this); !read)
      return fail_in(documents_ == 0 ? file_name_ : open_.where, read.error());
    if (failure_) return fail(*failure_);
    text = json.rest();  // YAML may follow
    lines_before = json.line() - 1;
  }
  if (Result<void> read = read_up_to(source, text, std::string::npos); !read) return read;
  return read_documents(text, lines_before);
}

Result<void> ManifestWalk::read_documents(std::string_view text, std::size_t lines_before) {
  const auto documents = parse_yaml(text);
  if (!documents) return fail_in(file_name_, documents.error());
  for (const YamlDocument& document : *documents) {
    const std::string where = fmt::format("{}: document {} (line {})", file_name_, ++documents_,
                                          lines_before + document.line);
    if (auto read = read_object(document.json, where, {}, 0); !read) return read;
  }
  return {};
}

Result<void> ManifestWalk::read_object(std::string_view json, const std::string& where,
                                       const ItemType& type, int depth) {
  Result<Head> head = read_head(json);
  if (!head) return fail_in(where, head.error());
  if (head->kind.empty()) head->kind = type.kind;
  if (head->api_version.empty()) head->api_version = type.api_version;
  if (head->kind.empty()) return fail(ErrorKind::kInvalid, where + ": kind: must be set");
  if (head->api_version.empty())
    return fail(ErrorKind::kInvalid, where + ": apiVersion: must be set");
  if (head->is_list()) return read_list(*head, where, depth + 1);
  return add(*std::move(head), json, where);
}

ManifestWalk::ItemType ManifestWalk::item_type(const Head& list) {
  if (list.kind == "List") return {};
  return {list.api_version, list.kind.substr(0, list.kind.size() - 4)};
}

Result<void> ManifestWalk::read_list(const Head& head, const std::string& where, int depth) {
  if (depth > kMaxListDepth)
    return fail(ErrorKind::kInvalid, where + ": items: lists are nested too deep");
  const ItemType type = item_type(head);
  JsonReader json(*head.items);
  std::size_t index = 0;
  std::optional<Error> failure;
  json.items([&] {
    if (failure) return;
    const std::string place = fmt::format("{}: items[{}]", where, index++);
    if (auto read = read_object(json.raw(), place, type, depth); !read) failure = read.error();
  });
  if (failure) return fail(*std::move(failure));
  if (json.error()) return fail_in(where + ": items", *json.error());
  return {};
}

Result<void> ManifestWalk::add(Head head, std::string_view json, const std::string& where) {
  ManifestObject object;
  object.kind = object_kind(head.api_version, head.kind);
  object.api_version = std::move(head.api_version);
  object.kind_text = std::move(head.kind);
  object.where = where;
  const bool elsewhere = object.kind != ObjectKind::kOther && !is_namespaced(object.kind);
  if (!elsewhere) object.namespace_name = std::move(head.namespace_name);
  if (object.namespace_name.empty() && is_namespaced(object.kind))
    object.namespace_name = "default";
  object.name = std::move(head.name);
  if (object.name.empty() && !head.generate_name.empty())
    object.name = generated_name(head.generate_name);
  if (object.name.empty()) {
    return fail(ErrorKind::kInvalid,
                fmt::format("{}: {}: metadata.name: must be set", where, object.kind_text));
  }
  if (Result<void> decoded = decode(object, json); !decoded)
    return fail_in(object, decoded.error());
  objects_.push_back(std::move(object));
  return {};
}

// Like an API server's, with five letters that follow from the file and the place in it.
std::string ManifestWalk::generated_name(std::string_view prefix) {
  static constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  constexpr std::size_t kMaxPrefix = 58;
  prefix = prefix.substr(0, kMaxPrefix);
  for (;;) {
    const std::string seed = deterministic_uid(file_name_, prefix, fmt::format("{}", counter_++));
    std::uint64_t number = 0;
    for (const char c : seed) number = number * 31 + static_cast<unsigned char>(c);
    std::string name(prefix);
    for (int i = 0; i < 5; ++i, number /= kLetters.size())
      name.push_back(kLetters[number % kLetters.size()]);
    if (generated_.insert(name).second) return name;
  }
}

// ---- objects that come piece by piece -----------------------------------------------------------
//
// kubectl sorts members: of its lists the kind comes after the items. Until then they are taken for
// a list's, and what was read of them is dropped if it was none.

void ManifestWalk::begin_object(std::size_t line) {
  open_ = {};
  open_.where = fmt::format("{}: document {} (line {})", file_name_, ++documents_, line);
  open_.objects_before = objects_.size();
}

bool ManifestWalk::begin_items(std::string_view so_far) {
  const Result<Head> head = read_head(so_far);
  if (!head) return go_on(fail_in(open_.where, head.error()));
  open_.no_list = !head->kind.empty() && !head->kind.ends_with("List");
  open_.is_list = head->kind.ends_with("List") && !head->api_version.empty();
  if (open_.is_list) open_.type = item_type(*head);
  return true;
}

bool ManifestWalk::item(std::string_view json) {
  const std::string place = fmt::format("{}: items[{}]", open_.where, open_.items++);
  if (open_.no_list || open_.failure) return true;
  if (open_.is_list) return go_on(read_object(json, place, open_.type, 1));
  const Result<Head> head = read_head(json);
  if (!open_.untyped.empty() || !head || head->kind.empty() || head->api_version.empty()) {
    open_.untyped.emplace_back(place, json);
  } else if (Result<void> read = read_object(json, place, {}, 1); !read) {
    open_.failure = read.error();
  }
  return true;
}

bool ManifestWalk::end_object(std::string_view json) {
  const Result<Head> head = read_head(json);
  if (!head) return go_on(fail_in(open_.where, head.error()));
  if (head->is_list() && !head->api_version.empty()) {
    if (open_.failure) return go_on(fail(*open_.failure));
    const ItemType type = item_type(*head);
    for (const auto& [place, item] : open_.untyped)
      if (!go_on(read_object(item, place, type, 1))) return false;
  } else {
    objects_.erase(objects_.begin() + static_cast<std::ptrdiff_t>(open_.objects_before),
                   objects_.end());
  }
  return go_on(read_object(json, open_.where, {}, 0));
}

bool ManifestWalk::go_on(Result<void> done) {
  if (!done) failure_ = std::move(done).error();
  return !failure_;
}

}  // namespace berth
