#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/time_text.h"
#include "berth/pod.h"
#include "trace/recording.h"
#include "wire/json_text.h"

namespace berth::trace {
namespace {

// Seconds, with as many digits as it takes, up to microseconds.
std::string seconds_text(Duration at) {
  const std::int64_t micros = std::chrono::duration_cast<std::chrono::microseconds>(at).count();
  std::string text = fmt::format("{}.{:06}", micros / 1'000'000, micros % 1'000'000);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string_view word_of(RecordType type) {
  switch (type) {
    case RecordType::kListed: return "LISTED";
    case RecordType::kAdded: return "ADDED";
    case RecordType::kModified: return "MODIFIED";
    case RecordType::kDeleted: return "DELETED";
    case RecordType::kTouched: return "TOUCHED";
    case RecordType::kBound: return "BOUND";
    case RecordType::kNominated: return "NOMINATED";
    case RecordType::kEnd: break;
  }
  return "END";
}

void append_member(std::string& line, std::string_view name, std::string_view text) {
  line += fmt::format(",\"{}\":", name);
  append_json_string(line, text);
}

std::string begun_line(Duration at, RecordType type, bool relisted) {
  return fmt::format("{{\"at\":{},\"type\":\"{}\"{}", seconds_text(at), word_of(type),
                     relisted ? ",\"relisted\":true" : "");
}

// What tells an object apart.
struct Identity {
  explicit Identity(const AnyObject& object) {
    if (const auto* const pod = std::get_if<Ref<const Pod>>(&object)) {
      namespace_name = (*pod)->namespace_name();
      name = (*pod)->name();
      uid = (*pod)->uid_text();
      version = (*pod)->resource_version();
    } else if (const auto* const other = std::get_if<Ref<const Object>>(&object)) {
      kind = (*other)->kind;
      namespace_name = (*other)->symbols.text((*other)->namespace_name);
      name = (*other)->name;
      uid = (*other)->uid;
      version = (*other)->resource_version;
    }
  }

  std::string key() const { return fmt::format("{} {}/{}", to_string(kind), namespace_name, name); }

  ObjectKind kind = ObjectKind::kPod;
  std::string namespace_name, name, uid, version;
};

void append_identity(std::string& line, const Identity& identity, const RecordedFields& fields) {
  append_member(line, "kind", to_string(identity.kind));
  if (!identity.namespace_name.empty())
    append_member(line, "namespace", fields.name(identity.namespace_name));
  // A CSIDriver is called as the software is.
  append_member(
      line, "name",
      identity.kind == ObjectKind::kCSIDriver ? identity.name : fields.name(identity.name));
  append_member(line, "uid", fields.uid(identity.uid));
  append_member(line, "resourceVersion", identity.version);
}

JsonValue* member_of(JsonValue& object, std::string_view name) {
  const auto found = std::ranges::find(object.members, name, &JsonMember::name);
  return found == object.members.end() ? nullptr : &found->value;
}

// A hash of everything but the version.
std::uint64_t content_hash(JsonValue object) {
  if (JsonValue* const metadata = member_of(object, "metadata"))
    std::erase_if(metadata->members,
                  [](const JsonMember& member) { return member.name == "resourceVersion"; });
  return sip_hash({}, to_json(object));
}

// Items of lists do not say what they are.
void set_type(JsonValue& object, std::string_view api_version, std::string_view kind) {
  std::erase_if(object.members, [](const JsonMember& member) {
    return member.name == "apiVersion" || member.name == "kind";
  });
  object.members.insert(object.members.begin(), {{"apiVersion", JsonValue::of_text(api_version)},
                                                 {"kind", JsonValue::of_text(kind)}});
}

}  // namespace

RecordingWriter::RecordingWriter(OutputFile& file, const RecordedFields& fields,
                                 std::map<ObjectKind, std::string> api_versions)
    : file_(file), fields_(fields), api_versions_(std::move(api_versions)) {}

Result<void> RecordingWriter::begin(const RecordingHead& head) {
  std::string line = fmt::format("{{\"berthTrace\":{}", kRecordingVersion);
  append_member(line, "start", rfc3339_micro(head.start));
  append_member(line, "recorder", head.recorder);
  line += ",\"resources\":[";
  for (const std::string& resource : head.resources) {
    if (line.back() != '[') line += ',';
    append_json_string(line, resource);
  }
  line += fmt::format("],\"anonymous\":{}", head.anonymous);
  return write_line(std::move(line));
}

Result<void> RecordingWriter::put(Duration at, RecordType type, bool relisted,
                                  const AnyObject& object, std::string_view json) {
  const Identity identity(object);
  const Result<JsonValue> read = parse_json(json);
  if (!read) return fail(read.error());
  JsonValue kept = fields_.of(identity.kind, *read);
  const auto api_version = api_versions_.find(identity.kind);
  set_type(kept, api_version == api_versions_.end() ? "v1" : api_version->second,
           to_string(identity.kind));
  Seen& seen = seen_[identity.key()];
  const std::uint64_t content = content_hash(kept);
  std::string line;
  if (type == RecordType::kModified && seen.content == content) {
    line = begun_line(at, RecordType::kTouched, relisted);
    append_identity(line, identity, fields_);
  } else {
    line = begun_line(at, type, relisted);
    line += ",\"object\":" + to_json(kept);
  }
  seen.content = content;
  if (Result<void> written = write_line(std::move(line)); !written) return written;
  const auto* const pod = std::get_if<Ref<const Pod>>(&object);
  if (!pod) return {};
  const std::string before = std::exchange(seen.node, std::string((*pod)->node_name()));
  const std::string wanted =
      std::exchange(seen.nominated, std::string((*pod)->nominated_node_name()));
  if (type == RecordType::kModified && before.empty() && !seen.node.empty())
    return write_scheduling(at, RecordType::kBound, relisted, **pod, seen.node);
  if (type == RecordType::kModified && wanted != seen.nominated)
    return write_scheduling(at, RecordType::kNominated, relisted, **pod, seen.nominated);
  return {};
}

Result<void> RecordingWriter::write_scheduling(Duration at, RecordType type, bool relisted,
                                               const Pod& pod, std::string_view node) {
  std::string line = begun_line(at, type, relisted);
  append_member(line, "namespace", fields_.name(pod.namespace_name()));
  append_member(line, "name", fields_.name(pod.name()));
  append_member(line, "uid", fields_.uid(pod.uid_text()));
  append_member(line, "node", fields_.name(node));
  return write_line(std::move(line));
}

Result<void> RecordingWriter::remove(Duration at, bool relisted, const AnyObject& last) {
  const Identity identity(last);
  seen_.erase(identity.key());
  std::string line = begun_line(at, RecordType::kDeleted, relisted);
  append_identity(line, identity, fields_);
  return write_line(std::move(line));
}

Result<void> RecordingWriter::end(Duration at) {
  return write_line(begun_line(at, RecordType::kEnd, false));
}

Result<void> RecordingWriter::write_line(std::string line) {
  ++records_;
  return file_.append(line + "}\n");
}

}  // namespace berth::trace
