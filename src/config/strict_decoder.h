// StrictDecoder: fills structs from JSON the way Kubernetes' strict decoder does, and keeps its
// complaints in its words. Only for this room.
//
//   void decode(StrictDecoder& in, const JsonValue& json, PluginRef& out) {
//     in.object("v1.Plugin", json, [&](std::string_view name, const JsonValue& value) {
//       if (name == "name") return in.read(value, out.name);
//       if (name == "weight") return in.read(value, out.weight);
//       return false;  // unknown
//     });
//   }
//
// Three kinds of complaint, by rank: one that ends decoding at once (a duration that is none), the
// first value of a wrong type, and unknown or repeated fields, of which there may be many.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/loop.h"
#include "wire/json_tree.h"

namespace berth::config {

class StrictDecoder {
 public:
  // `go_type` is how Go calls the target ("v1.Plugins"): errors name it. on_field(name, value)
  // returns whether it knows the field. Null leaves everything as it is.
  template <typename OnField>
  void object(std::string_view go_type, const JsonValue& json, OnField&& on_field) {
    if (!enter(go_type, JsonValue::Kind::kObject, json)) return;
    const std::string_view outer_struct = struct_;
    struct_ = go_type.substr(go_type.rfind('.') + 1);
    std::vector<std::string_view> seen;
    for (const JsonMember& member : json.members) {
      const Place place = descend(member.name);
      const bool again = std::ranges::find(seen, member.name) != seen.end();
      if (again) complain("duplicate field");
      if (on_field(std::string_view(member.name), member.value)) {
        if (!again) seen.push_back(member.name);
      } else {
        complain("unknown field");
      }
      ascend(place);
      if (ended_) return;
    }
    struct_ = outer_struct;
  }

  // `go_type` is that of one item: "v1.Plugin". on_item(value) decodes one.
  template <typename OnItem>
  bool array(std::string_view go_type, const JsonValue& json, OnItem&& on_item) {
    if (!enter("[]" + std::string(go_type), JsonValue::Kind::kArray, json)) return true;
    for (std::size_t i = 0; i < json.items.size(); ++i) {
      const Place place = descend(i);
      on_item(json.items[i]);
      ascend(place);
      if (ended_) break;
    }
    return true;
  }

  // A list of objects, each by decode(decoder, value, item).
  template <typename T, typename Decode>
  bool list(std::string_view go_type, const JsonValue& json, std::vector<T>& out, Decode&& decode) {
    out.clear();
    return array(go_type, json,
                 [&](const JsonValue& item) { decode(*this, item, out.emplace_back()); });
  }

  // All return true, so that `return in.read(…)` means "the field is known".
  bool read(const JsonValue& json, std::string& out, std::string_view go_type = "string");
  bool read(const JsonValue& json, bool& out);
  bool read(const JsonValue& json, std::int32_t& out);
  bool read(const JsonValue& json, std::int64_t& out);
  bool read(const JsonValue& json, float& out);
  bool read(const JsonValue& json, Duration& out);
  bool read(const JsonValue& json, std::vector<std::string>& out);
  // A pointer in Go: null is absent.
  template <typename T>
  bool read(const JsonValue& json, std::optional<T>& out) {
    if (json.is_null()) {
      out.reset();
      return true;
    }
    return read(json, out.emplace());
  }
  bool read_base64(const JsonValue& json, std::string& out);
  // A map[string]string.
  template <typename OnEntry>
  bool text_map(const JsonValue& json, OnEntry&& on_entry) {
    if (!enter("map[string]string", JsonValue::Kind::kObject, json)) return true;
    for (const JsonMember& member : json.members) {
      std::string value;
      read(member.value, value);
      on_entry(std::string_view(member.name), std::string_view(value));
    }
    return true;
  }

  // The current field belongs to a struct that Go embeds under this name; errors show it.
  void embedded(std::string_view name) { fields_.insert(fields_.end() - 1, name); }

  // What ended decoding or was of the wrong type.
  std::optional<std::string> error() const { return ended_ ? ended_ : mismatch_; }
  // Unknown and repeated fields.
  const std::vector<std::string>& strict_errors() const { return strict_errors_; }

 private:
  struct Place {
    std::size_t path;
    std::size_t fields;
  };
  Place descend(std::string_view field);
  Place descend(std::size_t index);
  void ascend(Place place);

  // Whether the value is what is needed; null is not, and no error either.
  bool enter(std::string_view go_type, JsonValue::Kind needed, const JsonValue& json);
  void complain(std::string_view what);
  std::string mismatch(const JsonValue& json, std::string_view go_type, bool with_number) const;
  bool integer(const JsonValue& json, std::int64_t& out, std::int64_t low, std::int64_t high,
               std::string_view go_type);

  std::string_view struct_;
  std::vector<std::string_view> fields_;  // as type errors show them: without indexes
  std::string path_;                      // as strict errors show it: with indexes
  std::optional<std::string> ended_;
  std::optional<std::string> mismatch_;
  std::vector<std::string> strict_errors_;
};

}  // namespace berth::config
