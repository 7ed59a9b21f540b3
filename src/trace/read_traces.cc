#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/stable_sort.h"
#include "trace/compressed_file.h"
#include "trace/csv.h"
#include "trace/openb.h"
#include "trace/recorded_past.h"
#include "trace/simkube.h"
#include "trace/trace.h"

namespace berth::trace {
namespace {

// What is read as a whole.
constexpr std::size_t kMostBytes = std::size_t{1} << 30;
constexpr std::size_t kBeginning = 64;

Result<void> add_recording(std::unique_ptr<InputFile> file, Interner& interner, Trace& trace) {
  const std::string name = file->name();
  Result<RecordingReader> recording = RecordingReader::open(std::move(file), interner);
  if (!recording) return fail(recording.error());
  Result<Trace> read = trace_of(*recording);
  if (!read) return fail(read.error());
  read->notes.insert(read->notes.begin(), trace.notes.begin(), trace.notes.end());
  if (recording->cut_off())
    read->notes.push_back(
        fmt::format("{}: ends after {} lines without END: the recorder was stopped in the middle",
                    name, recording->line_number()));
  trace = *std::move(read);
  return {};
}

Result<void> add_file(const std::string& path, const TraceOptions& options, Interner& interner,
                      Trace& trace, bool alone) {
  Result<std::unique_ptr<InputFile>> file = InputFile::open(path);
  if (!file) return fail(file.error());
  const std::string name = (*file)->name();
  const std::string beginning((*file)->peek(kBeginning));
  if ((*file)->error()) return fail(*(*file)->error());
  if (RecordingReader::is_recording(beginning)) {
    if (!alone)
      return fail(ErrorKind::kInvalid,
                  fmt::format("{}: a recording is a trace by itself, give no other file", name));
    return add_recording(*std::move(file), interner, trace);
  }
  if (is_simkube(beginning)) {
    if (!alone)
      return fail(ErrorKind::kInvalid,
                  fmt::format("{}: SimKube's trace is one by itself, give no other file", name));
    const Result<std::string> bytes = (*file)->rest(kMostBytes);
    if (!bytes) return fail(bytes.error());
    return add_simkube(*bytes, name, interner, trace);
  }
  Result<CsvTable> table = CsvTable::open(*std::move(file));
  if (!table) return fail(table.error());
  if (is_openb_nodes(*table)) return add_openb_nodes(*table, options, interner, trace);
  if (is_openb_pods(*table)) return add_openb_pods(*table, options, interner, trace);
  return fail(ErrorKind::kInvalid,
              fmt::format("{}: no trace: neither a recording of berth, nor a list of openb's nodes "
                          "or pods, nor a trace of SimKube",
                          name));
}

// At one moment: what pods may need before pods.
int rank_of(const Step& step) {
  return step.type == DeltaType::kAdded && std::holds_alternative<Ref<const Pod>>(step.object) ? 1
                                                                                               : 0;
}

}  // namespace

Result<Trace> read_traces(const std::vector<std::string>& paths, const TraceOptions& options,
                          Interner& interner) {
  Trace trace;
  for (const std::string& path : paths)
    if (Result<void> added = add_file(path, options, interner, trace, paths.size() == 1); !added)
      return fail(added.error());
  sort_stably(trace.steps, [](const Step& a, const Step& b) {
    // Later on the order in which things are told is right.
    return a.at != b.at ? a.at < b.at : a.at == Duration{0} && rank_of(a) < rank_of(b);
  });
  sort_stably(trace.pods, {}, &PodPast::arrived);
  return trace;
}

}  // namespace berth::trace
