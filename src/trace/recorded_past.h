// A recording as a Trace: what the scheduler did is taken out of the objects, and kept beside them.
//
// Left out of the steps, because a replay decides it anew: the nodes of pods that the scheduler bound;
// evictions for a preemption; what is written into claims and volumes to bind them, volumes that were
// made for a claim, attachments. What is there when the recording begins stays as it is.
#pragma once

#include "berth/result.h"
#include "trace/recording.h"
#include "trace/trace.h"

namespace berth::trace {

// All that the reader has left.
Result<Trace> trace_of(RecordingReader& recording);

}  // namespace berth::trace
