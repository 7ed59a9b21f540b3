#include "perf/progress.h"

#include "base/process.h"

namespace berth::perf {

void Progress::start() {
  measuring_ = true;
  started_ = loop_.now();
  measured_ = {};
  computed_before_ = cpu_time();
}

void Progress::stop() {
  if (measuring_) measured_.computed = cpu_time() - computed_before_;
  measuring_ = false;
}

void Progress::queued(const Pod&, QueueName queue, std::string_view) {
  if (queue == QueueName::kGated && changed_) changed_();
}

void Progress::attempt_started(const Pod&, std::int32_t) {
  if (measuring_) attempt_ = loop_.tick();
}

void Progress::decided(const Decision& decision) {
  if (measuring_) measured_.attempts.push_back(loop_.tick() - attempt_);
  if (decision.attempt <= 1) ++tried_;
  if (changed_) changed_();
}

void Progress::bound(const Pod&, std::string_view, std::int32_t) {
  ++bound_;
  if (measuring_) {
    ++measured_.pods;
    measured_.took = loop_.now() - started_;
    measured_.when.push_back(measured_.took);
  }
  if (changed_) changed_();
}

}  // namespace berth::perf
