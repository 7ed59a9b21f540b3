// Recordings: what an API server said about a cluster, line by line, as `berth record` writes it.
// docs/trace.md has the format.
//
//   {"berthTrace": 1, "start": "2026-03-02T08:00:00Z", …}
//   {"at": 0.021, "type": "LISTED", "object": {…}}
//   {"at": 7.4, "type": "MODIFIED", "object": {…}}
//   {"at": 7.4, "type": "BOUND", "namespace": "shop", "name": "web-1", "node": "n3", …}
//   {"at": 60, "type": "END"}
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "berth/interner.h"
#include "berth/loop.h"
#include "berth/object.h"
#include "berth/result.h"
#include "trace/compressed_file.h"
#include "trace/recorded_fields.h"

namespace berth::trace {

inline constexpr std::int64_t kRecordingVersion = 1;

struct RecordingHead {
  WallTime start{};
  std::string recorder;                // "berth 0.9.0"
  std::vector<std::string> resources;  // what was recorded: "pods", "replicasets.apps"
  bool anonymous = false;
};

// What one line says.
enum class RecordType : std::uint8_t {
  kListed,    // the object was there when the recording began
  kAdded,     //
  kModified,  //
  kDeleted,
  kTouched,    // the object has a new version, and nothing that is recorded changed
  kBound,      // the scheduler gave a pod a node
  kNominated,  // the scheduler wants to make room for a pod on a node, or does not any more
  kEnd,        // the recorder was stopped in good order
};

struct Record {
  Duration at{0};
  RecordType type = RecordType::kListed;
  // Found by a new list after the connection was lost: it happened some time before.
  bool relisted = false;
  // What it is about. Of kListed, kAdded and kModified the object itself, too.
  ObjectKind kind = ObjectKind::kOther;
  std::string namespace_name, name, uid, version;
  AnyObject object;
  std::string node;  // of kBound and kNominated
};

// ---- writing ------------------------------------------------------------------------------------

class RecordingWriter {
 public:
  // Both outlive it. `api_versions`: of the kinds that will be written.
  RecordingWriter(OutputFile& file, const RecordedFields& fields,
                  std::map<ObjectKind, std::string> api_versions);

  Result<void> begin(const RecordingHead& head);
  // An object was there, came or changed; `json` is all that the API server has of it.
  Result<void> put(Duration at, RecordType type, bool relisted, const AnyObject& object,
                   std::string_view json);
  // It has gone; `last` is what was known of it.
  Result<void> remove(Duration at, bool relisted, const AnyObject& last);
  Result<void> end(Duration at);

  std::uint64_t records() const { return records_; }

 private:
  // What is remembered of an object, to tell what changes.
  struct Seen {
    std::uint64_t content = 0;  // hash of what was recorded, but for the version
    std::string node, nominated;
  };

  Result<void> write_scheduling(Duration at, RecordType type, bool relisted, const Pod& pod,
                                std::string_view node);
  Result<void> write_line(std::string line);

  OutputFile& file_;
  const RecordedFields& fields_;
  const std::map<ObjectKind, std::string> api_versions_;
  std::unordered_map<std::string, Seen> seen_;  // by kind, namespace and name
  std::uint64_t records_ = 0;
};

// ---- reading ------------------------------------------------------------------------------------

class RecordingReader {
 public:
  // Whether a file that begins like this is a recording.
  static bool is_recording(std::string_view beginning);
  static Result<RecordingReader> open(std::unique_ptr<InputFile> file, Interner& interner);

  const RecordingHead& head() const { return head_; }
  // Nothing: there are no more, or error() says why. Lines of unknown types are passed over.
  std::optional<Record> next();
  const std::optional<Error>& error() const { return error_; }
  // Whether the recorder was stopped in the middle. Known at the end.
  bool cut_off() const { return !ended_; }
  std::size_t line_number() const { return file_->line_number(); }

 private:
  RecordingReader(std::unique_ptr<InputFile> file, Interner& interner)
      : file_(std::move(file)), interner_(&interner) {}
  Result<void> read_head();
  Result<std::optional<Record>> read_record(std::string_view line);

  std::unique_ptr<InputFile> file_;
  Interner* interner_;
  RecordingHead head_;
  bool ended_ = false;
  std::optional<Error> error_;
};

}  // namespace berth::trace
