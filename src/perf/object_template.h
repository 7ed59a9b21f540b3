// ObjectTemplate: a manifest from which many objects are made, as scheduler_perf's templates:
// `{{.Index}}`, `{{Mod .Index 25}}` and `{{DivideInt .Index 5}}` stand for the object's number.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "api/interner.h"
#include "api/object.h"
#include "api/pod.h"
#include "base/result.h"

namespace berth::perf {

class ObjectTemplate {
 public:
  // From a file's text; `where` is for messages.
  ObjectTemplate(std::string text, std::string where);

  ObjectKind kind() const { return kind_; }
  const std::string& where() const { return where_; }

  // The object of that number. A pod gets `namespace_name` and, without a name of its own, a name
  // and UID made of `serial`; any other object a name likewise. Pods that differ in nothing else
  // share what they are made of.
  Result<AnyObject> make(std::int64_t index, std::uint64_t serial, std::string_view namespace_name,
                         Interner& interner);

 private:
  Result<std::string> filled_in(std::int64_t index) const;
  Result<AnyObject> decode(std::int64_t index, const std::string& name,
                           std::string_view namespace_name, Interner& interner) const;

  std::string text_, where_;
  bool indexed_ = false;
  ObjectKind kind_ = ObjectKind::kOther;
  std::map<std::string, Ref<const Pod>, std::less<>> pods_;  // one of each namespace
};

}  // namespace berth::perf
