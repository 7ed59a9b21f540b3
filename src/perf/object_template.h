// ObjectTemplate: a manifest from which many objects are made, as scheduler_perf's templates
// (perf/go_template.h): `{{.Index}}` stands for the object's number, `{{.Count}}` for how many
// there will be, `{{.name}}` for what the operation's templateParams pass.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "berth/interner.h"
#include "berth/object.h"
#include "berth/pod.h"
#include "berth/result.h"
#include "perf/go_template.h"
#include "wire/json_tree.h"

namespace berth::perf {

// Which of how many objects; `serial` is like no other's.
struct Numbered {
  std::int64_t index = 0;
  std::int64_t count = 1;
  std::uint64_t serial = 0;
  const JsonValue* params = nullptr;  // an object: what else the template gets; null: nothing
};

class ObjectTemplate {
 public:
  // From a file's text; `where` is for messages.
  ObjectTemplate(std::string text, std::string where);

  const std::string& where() const { return where_; }

  // The object of that number. A pod gets `namespace_name` and, without a name of its own, a name
  // and UID made of `serial`; any other object a name likewise. Pods that differ in nothing else
  // share what they are made of. `change`, if given, has the last word about the manifest.
  using Change = std::function<void(JsonValue& manifest)>;
  Result<AnyObject> make(const Numbered& number, std::string_view namespace_name,
                         Interner& interner, const Change& change = {});

 private:
  Result<std::string> filled_in(const Numbered& number) const;
  Result<AnyObject> decode(const Numbered& number, std::string_view namespace_name,
                           Interner& interner, const Change& change) const;

  std::string text_, where_;
  std::optional<Result<GoTemplate>> template_;  // nullopt: the text is the same for every object
  std::map<std::string, Ref<const Pod>, std::less<>> pods_;  // one of each namespace
};

// The member of that name; made if it is not there.
JsonValue& member(JsonValue& object, std::string_view name);
void set_text(JsonValue& object, std::string_view name, std::string_view text);

}  // namespace berth::perf
