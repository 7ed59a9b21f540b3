// RecordedFields: what a recording keeps of an object: what scheduling reads of it, and nothing else. No
// environment, command, argument or annotation of somebody else gets into a recording, because no list
// of fields names it. The lists are in recorded_fields.cc. Any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "berth/object.h"
#include "trace/anonymiser.h"
#include "wire/json_tree.h"

namespace berth::trace {

class RecordedFields {
 public:
  // With `anonymiser`: under other names.
  explicit RecordedFields(std::optional<Anonymiser> anonymiser);
  ~RecordedFields();
  RecordedFields(const RecordedFields&) = delete;
  RecordedFields& operator=(const RecordedFields&) = delete;

  // Whether objects of the kind can be recorded.
  bool knows(ObjectKind kind) const;
  JsonValue of(ObjectKind kind, const JsonValue& object) const;
  // A name and a UID as they stand in the recording.
  std::string name(std::string_view text) const;
  std::string uid(std::string_view text) const;
  bool anonymous() const { return anonymiser_.has_value(); }

 private:
  struct Lists;

  const std::optional<Anonymiser> anonymiser_;
  const std::unique_ptr<const Lists> lists_;
};

}  // namespace berth::trace
