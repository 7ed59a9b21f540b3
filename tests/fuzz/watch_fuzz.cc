// Whatever bytes come where a watch or a list is expected, they are read or refused: how they are
// cut does not matter, and what is made of them are deltas that make sense.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "berth/interner.h"
#include "berth/pod.h"
#include "expanded.h"
#include "kube/kind_mirror.h"
#include "kube/watch_stream.h"

namespace berth::kube {
namespace {

// Short streams come to it, long ones do not.
std::size_t limit_of(std::string_view bytes) { return bytes.size() > 4096 ? 512 * 1024 : 2048; }

// What an event says, to be compared.
std::string told(const WatchedEvent& event) {
  std::string text(1, static_cast<char>('0' + static_cast<int>(event.type)));
  text += event.version();
  if (const auto* pod = std::get_if<Ref<const Pod>>(&event.object)) {
    text += (*pod)->full_name() + (*pod)->uid_text();
  } else if (const auto* object = std::get_if<Ref<const Object>>(&event.object)) {
    text += (*object)->name + (*object)->uid;
  } else {
    BERTH_CHECK(event.detail != nullptr);
    text += event.detail->header.name + event.detail->status.message;
  }
  return text;
}

template <typename Reader>
std::vector<WatchedEvent> read_all(Reader& reader, std::string_view bytes, std::size_t piece) {
  std::vector<WatchedEvent> events;
  for (std::size_t at = 0; at < bytes.size(); at += piece)
    reader.add(bytes.substr(at, piece), events);
  return events;
}

template <typename Reader>
std::vector<WatchedEvent> read(WireFormat format, const StreamedKind& kind, Interner& interner,
                               std::string_view bytes) {
  const auto whole = Reader::make(format, kind, interner, limit_of(bytes));
  std::vector<WatchedEvent> events = read_all(*whole, bytes, bytes.size() + 1);
  const auto pieces = Reader::make(format, kind, interner, limit_of(bytes));
  const std::vector<WatchedEvent> same = read_all(*pieces, bytes, 3);
  BERTH_CHECK(same.size() == events.size());
  for (std::size_t i = 0; i < events.size(); ++i) BERTH_CHECK(told(same[i]) == told(events[i]));
  BERTH_CHECK(whole->error().has_value() == pieces->error().has_value());
  if constexpr (requires { whole->finish(); })
    BERTH_CHECK(whole->finish().has_value() == pieces->finish().has_value());
  else
    BERTH_CHECK(whole->at_boundary() == pieces->at_boundary());
  return events;
}

// Who is told the deltas of pods, and complains about those that cannot be.
class Strict {
 public:
  void apply(const Delta& delta) {
    const Pod& pod = *std::get<Ref<const Pod>>(delta.object);
    const auto found = pods_.find(pod.full_name());
    const bool known = found != pods_.end();
    BERTH_CHECK(known == (delta.type != DeltaType::kAdded));
    BERTH_CHECK(!known || found->second == pod.uid());
    if (delta.type == DeltaType::kDeleted) {
      pods_.erase(found);
    } else {
      pods_[pod.full_name()] = pod.uid();
    }
  }
  std::size_t size() const { return pods_.size(); }

 private:
  std::map<std::string, Uid> pods_;
};

void mirror(std::vector<WatchedEvent> watched, std::vector<WatchedEvent> listed) {
  Strict strict;
  const KindMirror::Apply apply = [&strict](const Delta& delta) { strict.apply(delta); };
  const auto mirror = KindMirror::make(ObjectKind::kPod, apply);
  const auto is_object = [](const WatchedEvent& event) {
    return event.type != WatchedEvent::Type::kBookmark && event.type != WatchedEvent::Type::kError;
  };
  for (WatchedEvent& event : watched)
    if (is_object(event)) mirror->changed(std::move(event));
  mirror->begin_list();
  for (WatchedEvent& event : listed)
    if (is_object(event)) mirror->listed(std::move(event));
  mirror->finish_list();
  BERTH_CHECK(mirror->size() == strict.size());
}

}  // namespace
}  // namespace berth::kube

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace berth;
  using namespace berth::kube;
  const std::string bytes = fuzz::expanded(data, size);
  const StreamedKind pods{ObjectKind::kPod, "v1", "Pod"};
  const StreamedKind others[] = {
      {ObjectKind::kNode, "v1", "Node"},
      {ObjectKind::kPodDisruptionBudget, "policy/v1", "PodDisruptionBudget"},
      {ObjectKind::kStorageClass, "storage.k8s.io/v1", "StorageClass"}};
  Interner interner;
  for (const WireFormat format : {WireFormat::kJson, WireFormat::kProtobuf}) {
    std::vector<WatchedEvent> events = read<WatchReader>(format, pods, interner, bytes);
    // The same once more, as what a streaming list tells.
    mirror(read<WatchReader>(format, pods, interner, bytes), std::move(events));
    mirror({}, read<ListReader>(format, pods, interner, bytes));
    for (const StreamedKind& kind : others) {
      read<WatchReader>(format, kind, interner, bytes);
      read<ListReader>(format, kind, interner, bytes);
    }
  }
  return 0;
}
