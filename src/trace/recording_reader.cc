#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "api/api_status.h"
#include "api/decode.h"
#include "base/time_text.h"
#include "trace/recording.h"
#include "trace/trace.h"
#include "wire/json_reader.h"

namespace berth::trace {
namespace {

constexpr double kMostSeconds = std::chrono::duration<double>(kLongestTrace).count();
// Starts of recordings: so that the end can be reckoned with, too.
constexpr WallTime kEarliest{};
constexpr WallTime kLatest{std::chrono::seconds(4'000'000'000)};

std::optional<RecordType> record_type(std::string_view word) {
  if (word == "LISTED") return RecordType::kListed;
  if (word == "ADDED") return RecordType::kAdded;
  if (word == "MODIFIED") return RecordType::kModified;
  if (word == "DELETED") return RecordType::kDeleted;
  if (word == "TOUCHED") return RecordType::kTouched;
  if (word == "BOUND") return RecordType::kBound;
  if (word == "NOMINATED") return RecordType::kNominated;
  if (word == "END") return RecordType::kEnd;
  return std::nullopt;
}

bool has_object(RecordType type) {
  return type == RecordType::kListed || type == RecordType::kAdded || type == RecordType::kModified;
}

Duration read_seconds(JsonReader& json) {
  const std::string_view text = json.raw();
  double since_start = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), since_start);
  if (error != std::errc() || end != text.data() + text.size() || !(since_start >= 0) ||
      since_start > kMostSeconds) {
    json.fail("expected a number of seconds since the start, ten years at most");
    return Duration{0};
  }
  return Duration(static_cast<std::int64_t>(std::llround(since_start * 1e6)) * 1000);
}

ObjectKind kind_named(std::string_view name) {
  for (int kind = 0; kind < static_cast<int>(ObjectKind::kOther); ++kind)
    if (to_string(static_cast<ObjectKind>(kind)) == name) return static_cast<ObjectKind>(kind);
  return ObjectKind::kOther;
}

// What an object says that it is.
ObjectKind kind_of(std::string_view object) {
  std::string api_version, kind;
  JsonReader json(object);
  json.fields([&](std::string_view name) {
    if (name == "apiVersion") api_version = json.text();
    if (name == "kind") kind = json.text();
  });
  return object_kind(api_version, kind);
}

}  // namespace

bool RecordingReader::is_recording(std::string_view beginning) {
  const std::size_t first = beginning.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && beginning[first] == '{';
}

Result<RecordingReader> RecordingReader::open(std::unique_ptr<InputFile> file, Interner& interner) {
  RecordingReader reader(std::move(file), interner);
  if (Result<void> read = reader.read_head(); !read) return fail(read.error());
  return reader;
}

Result<void> RecordingReader::read_head() {
  const std::optional<std::string_view> line = file_->next_line();
  if (!line && file_->error()) return fail(*file_->error());
  std::optional<std::int64_t> version;
  JsonReader json(line.value_or("{}"));
  json.fields([&](std::string_view name) {
    if (name == "berthTrace") version = json.int64();
    if (name == "start")
      head_.start = std::clamp(json.time().value_or(kEarliest), kEarliest, kLatest);
    if (name == "recorder") head_.recorder = json.text();
    if (name == "anonymous") head_.anonymous = json.boolean();
    if (name == "resources") json.items([&] { head_.resources.emplace_back(json.text()); });
  });
  const auto wrong = [&](std::string_view what) {
    return fail(ErrorKind::kInvalid, fmt::format("{}: line 1: {}", file_->name(), what));
  };
  if (json.error()) return wrong(json.error()->message);
  if (!version)
    return wrong("no recording: it does not begin with {\"berthTrace\": 1, …} (docs/trace.md)");
  if (*version > kRecordingVersion || *version < 1)
    return wrong(fmt::format("a recording of version {}; this berth reads version {}", *version,
                             kRecordingVersion));
  return {};
}

std::optional<Record> RecordingReader::next() {
  while (!error_ && !ended_) {
    const std::optional<std::string_view> line = file_->next_line();
    if (!line) {
      error_ = file_->error();
      break;
    }
    if (line->find_first_not_of(" \t\r") == std::string_view::npos) continue;
    Result<std::optional<Record>> record = read_record(*line);
    if (!record) {
      // The recorder was killed while it wrote this one.
      if (file_->cut_off() && file_->peek(1).empty()) break;
      error_ = Error{record.error().kind, fmt::format("{}: line {}: {}", file_->name(),
                                                      line_number(), record.error().message)};
      break;
    }
    if (!*record) continue;
    if ((*record)->type == RecordType::kEnd) ended_ = true;
    return std::move(**record);
  }
  return std::nullopt;
}

Result<std::optional<Record>> RecordingReader::read_record(std::string_view line) {
  Record record;
  std::optional<RecordType> type;
  std::string word, kind;
  std::string_view object;
  JsonReader json(line);
  json.fields([&](std::string_view name) {
    if (name == "at") record.at = read_seconds(json);
    if (name == "type") word = json.text();
    if (name == "relisted") record.relisted = json.boolean();
    if (name == "kind") kind = json.text();
    if (name == "namespace") record.namespace_name = json.text();
    if (name == "name") record.name = json.text();
    if (name == "uid") record.uid = json.text();
    if (name == "resourceVersion") record.version = json.text();
    if (name == "node") record.node = json.text();
    if (name == "object") object = json.raw();
  });
  if (json.error()) return fail(*json.error());
  type = record_type(word);
  if (!type) return std::nullopt;  // of a later version, which says more
  record.type = *type;
  if (!has_object(record.type)) {
    const bool about_pod =
        record.type == RecordType::kBound || record.type == RecordType::kNominated;
    record.kind = about_pod ? ObjectKind::kPod : kind_named(kind);
    if (record.type != RecordType::kEnd && record.name.empty())
      return fail(ErrorKind::kInvalid, fmt::format("{} without a name", word));
    return record;
  }
  if (object.empty()) return fail(ErrorKind::kInvalid, fmt::format("{} without an object", word));
  record.kind = kind_of(object);
  Result<AnyObject> decoded = decode_object(record.kind, object, *interner_, nullptr);
  const Result<ObjectHeader> header = read_object_header(object);
  if (!decoded || !header)
    return fail(ErrorKind::kInvalid,
                fmt::format("object: {}", (decoded ? header.error() : decoded.error()).message));
  if (header->name.empty()) return fail(ErrorKind::kInvalid, "object: metadata.name: is missing");
  record.namespace_name = header->namespace_name;
  record.name = header->name;
  record.uid = header->uid;
  record.version = header->resource_version;
  record.object = *std::move(decoded);
  return record;
}

}  // namespace berth::trace
