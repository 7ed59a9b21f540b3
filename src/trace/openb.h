// openb: the GPU cluster trace that Alibaba published in 2023, as two tables: nodes (sn, cpu_milli,
// memory_mib, gpu, model) and pods (name, cpu_milli, memory_mib, num_gpu, gpu_milli, and where they are
// given gpu_spec, qos, pod_phase and times in seconds). docs/trace.md says what becomes of them.
#pragma once

#include "berth/interner.h"
#include "berth/result.h"
#include "trace/csv.h"
#include "trace/trace.h"

namespace berth::trace {

bool is_openb_nodes(const CsvTable& table);
bool is_openb_pods(const CsvTable& table);

// Adds steps to the trace, in the order of the rows; whoever calls puts them in the order of time.
Result<void> add_openb_nodes(CsvTable& table, const TraceOptions& options, Interner& interner,
                             Trace& trace);
Result<void> add_openb_pods(CsvTable& table, const TraceOptions& options, Interner& interner,
                            Trace& trace);

}  // namespace berth::trace
