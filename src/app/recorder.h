// Recorder: follows an API server as a scheduler does (kube/reflectors.h), and writes what it says into
// a recording. It sends GET requests only. A list that has to be made again, after a connection was lost
// or a version forgotten, is written as what has changed, so that the recording always ends in the state
// that the server had. World thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/lifetime.h"
#include "base/sip_hash.h"
#include "berth/interner.h"
#include "berth/loop.h"
#include "berth/random.h"
#include "berth/result.h"
#include "kube/reflectors.h"
#include "telemetry/log.h"
#include "trace/recording.h"

namespace berth::app {

struct RecorderOptions {
  std::vector<kube::WatchedKind> kinds;
  std::optional<SipKey> anonymise;  // the names' key; nothing: names stay
  std::string recorder;             // "berth 0.9.0"
  // What was written is in the file after this time at the latest.
  Duration flush_interval = std::chrono::seconds(1);
};

class Recorder {
 public:
  // Called once: nothing more can be written.
  using Broken = std::function<void(const Error&)>;

  // What is passed by reference outlives it, and the interner the client, too.
  Recorder(Loop& loop, kube::ApiClient& client, Interner& interner, Random random,
           telemetry::Log log, trace::OutputFile& file, RecorderOptions options, Broken broken);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void start();
  // Follows no more, and writes the end.
  Result<void> finish();

  kube::Reflectors& reflectors() { return *reflectors_; }
  std::uint64_t records() const { return writer_.records(); }

 private:
  void take(const Delta& delta, const kube::ObjectText& text, kube::KindMirror::Learned learned);
  Result<void> write(const Delta& delta, const kube::ObjectText& text,
                     kube::KindMirror::Learned learned);
  void check(const Result<void>& written);
  void flush_soon();

  Loop& loop_;
  trace::OutputFile& file_;
  const RecorderOptions options_;
  const Broken broken_;
  const telemetry::Log log_;
  const trace::RecordedFields fields_;
  trace::RecordingWriter writer_;
  TimePoint start_{};
  bool is_broken_ = false;
  bool flush_waits_ = false;
  std::unique_ptr<kube::Reflectors> reflectors_;
  Lifetime lifetime_;
};

// What a default scheduler reads, and what gives pods their priorities. Finished pods are among it.
std::vector<kube::WatchedKind> recorded_kinds();

}  // namespace berth::app
