// Reviews: what Authenticator and Authorizer have in common. They ask an API server, bounded in how
// many callers wait, and keep its answers for a while. Questions under way share it.
#pragma once

#include <cstddef>
#include <utility>

#include "base/thread.h"
#include "berth/loop.h"
#include "serve/expiring_cache.h"
#include "serve/open_reviews.h"
#include "telemetry/log.h"
#include "telemetry/scheduler_metrics.h"

namespace berth::serve {

template <typename Options, typename Answer>
struct Reviews {
  Reviews(const Loop& given_loop, Options given_options, telemetry::ServingMetrics& given_metrics,
          telemetry::Log given_log, std::size_t most_known)
      : loop(given_loop),
        options(std::move(given_options)),
        metrics(given_metrics),
        log(std::move(given_log)),
        open(options.most_waiting),
        known(most_known) {}

  const Loop& loop;
  const Options options;
  telemetry::ServingMetrics& metrics;
  const telemetry::Log log;

  OpenReviews<Answer> open;
  Mutex mutex;
  ExpiringCache<Answer> known GUARDED_BY(mutex);
};

}  // namespace berth::serve
