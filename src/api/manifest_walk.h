// ManifestWalk: finds the objects in manifests: documents, lists and lists in lists. What becomes of
// an object is up to who derives from it: read_manifest() and the ManifestLoader.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/manifest.h"
#include "wire/json_stream.h"

namespace berth {

class ManifestWalk : private JsonStream::Visitor {
 public:
  // All objects of a text.
  Result<void> walk(std::string_view text, const std::string& file_name);
  // The same, piece by piece where the text is JSON. A text that is short, or YAML, is read as a
  // whole.
  Result<void> walk(TextSource& source, const std::string& file_name);

 protected:
  // What tells an object apart, read before the rest of it.
  struct Head {
    std::string api_version;
    std::string kind;
    std::string namespace_name;
    std::string name;
    std::string generate_name;
    std::optional<std::string> items;  // of a list: its JSON

    bool is_list() const { return items && kind.ends_with("List"); }
  };

  // Reads what `object`, which has all but that, is made of.
  virtual Result<void> decode(ManifestObject& object, std::string_view json) = 0;

  std::vector<ManifestObject> objects_;  // those found so far, in order

 private:
  // What the items of a typed list (PodList) need not say.
  struct ItemType {
    std::string api_version;
    std::string kind;
  };
  // The object that a JsonStream is reading.
  struct OpenObject {
    std::string where;
    std::size_t objects_before = 0;
    std::size_t items = 0;
    bool is_list = false;  // for sure; otherwise its end tells
    bool no_list = false;  // for sure
    ItemType type;
    std::vector<std::pair<std::string, std::string>>
        untyped;                   // items that wait for the type: place, JSON
    std::optional<Error> failure;  // of an item, if this is a list
  };

  static Result<Head> read_head(std::string_view json);
  static ItemType item_type(const Head& list);
  Result<void> read_documents(std::string_view text, std::size_t lines_before);
  Result<void> read_object(std::string_view json, const std::string& where, const ItemType& type,
                           int depth);
  Result<void> read_list(const Head& head, const std::string& where, int depth);
  Result<void> add(Head head, std::string_view json, const std::string& where);
  std::string generated_name(std::string_view prefix);

  // ---- JsonStream::Visitor
  void begin_object(std::size_t line) override;
  bool begin_items(std::string_view so_far) override;
  bool item(std::string_view json) override;
  bool end_object(std::string_view json) override;
  bool go_on(Result<void> done);

  std::string file_name_;
  std::size_t documents_ = 0;
  OpenObject open_;
  std::optional<Error> failure_;  // that ends the stream
  std::size_t counter_ = 0;
  std::set<std::string> generated_;
};

// "Pod default/web-1", as messages call an object.
std::string shown(const ManifestObject& object);
// An error in that place, or of that object.
std::unexpected<Error> fail_in(std::string_view where, const Error& error);
std::unexpected<Error> fail_in(const ManifestObject& object, const Error& error);

}  // namespace berth
