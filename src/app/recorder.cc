#include "app/recorder.h"

#include <utility>

#include "app/live_objects.h"

namespace berth::app {
namespace {

std::map<ObjectKind, std::string> api_versions(const std::vector<kube::WatchedKind>& kinds) {
  std::map<ObjectKind, std::string> versions;
  for (const kube::WatchedKind& kind : kinds) versions.emplace(kind.kind, kind.api_version);
  return versions;
}

}  // namespace

std::vector<kube::WatchedKind> recorded_kinds() {
  std::vector<kube::WatchedKind> kinds;
  for (LiveKind& kind : live_kinds()) {
    if (kind.optional) continue;
    kind.kind.field_selector.clear();
    kinds.push_back(std::move(kind.kind));
  }
  return kinds;
}

Recorder::Recorder(Loop& loop, kube::ApiClient& client, Interner& interner, Random random,
                   telemetry::Log log, trace::OutputFile& file, RecorderOptions options,
                   Broken broken)
    : loop_(loop),
      file_(file),
      options_(std::move(options)),
      broken_(std::move(broken)),
      log_(log),
      fields_(
          options_.anonymise.transform([](const SipKey& key) { return trace::Anonymiser(key); })),
      writer_(file, fields_, api_versions(options_.kinds)) {
  kube::ReflectorsOptions reflectors;
  reflectors.kinds = options_.kinds;
  kube::TextOptions& texts = reflectors.each.texts;
  texts.pods = texts.nodes = texts.others = kube::KeptText::kAll;
  texts.take = [this](const Delta& delta, const kube::ObjectText& text,
                      kube::KindMirror::Learned learned) { take(delta, text, learned); };
  reflectors_ = std::make_unique<kube::Reflectors>(loop, client, interner, random, std::move(log),
                                                   std::move(reflectors), [](const Delta&) {});
}

Recorder::~Recorder() = default;

void Recorder::start() {
  start_ = loop_.now();
  trace::RecordingHead head;
  head.start = loop_.wall_now();
  head.recorder = options_.recorder;
  head.anonymous = fields_.anonymous();
  for (const kube::WatchedKind& kind : options_.kinds)
    head.resources.push_back(kind.full_resource());
  check(writer_.begin(head));
  flush_soon();
  reflectors_->start();
}

Result<void> Recorder::finish() {
  reflectors_->stop();
  if (Result<void> ended = writer_.end(loop_.now() - start_); !ended) return ended;
  return file_.finish();
}

void Recorder::take(const Delta& delta, const kube::ObjectText& text,
                    kube::KindMirror::Learned learned) {
  if (is_broken_) return;
  check(write(delta, text, learned));
  flush_soon();
}

Result<void> Recorder::write(const Delta& delta, const kube::ObjectText& text,
                             kube::KindMirror::Learned learned) {
  using enum kube::KindMirror::Learned;
  const Duration at = loop_.now() - start_;
  const bool relisted = learned == kFromLaterList;
  if (delta.type == DeltaType::kDeleted) return writer_.remove(at, relisted, delta.object);
  if (!text) {
    log_.error("it has no JSON", "An object cannot be recorded", {});
    return {};
  }
  const trace::RecordType type = delta.type == DeltaType::kUpdated ? trace::RecordType::kModified
                                 : learned == kFromFirstList       ? trace::RecordType::kListed
                                                                   : trace::RecordType::kAdded;
  return writer_.put(at, type, relisted, delta.object, *text);
}

void Recorder::check(const Result<void>& written) {
  if (written || std::exchange(is_broken_, true)) return;
  broken_(written.error());
}

void Recorder::flush_soon() {
  if (is_broken_ || std::exchange(flush_waits_, true)) return;
  loop_.after(options_.flush_interval, lifetime_.guard([this] {
    flush_waits_ = false;
    if (!is_broken_) check(file_.flush());
  }));
}

}  // namespace berth::app
