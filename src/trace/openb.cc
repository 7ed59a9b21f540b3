#include "trace/openb.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "api/decode.h"
#include "api/defaulting.h"
#include "wire/json_text.h"

namespace berth::trace {
namespace {

using std::chrono::seconds;

constexpr std::string_view kModelLabel = "openb/gpu-model";
constexpr std::string_view kGpuResource = "openb/gpu-milli";
constexpr std::string_view kDriver = "gpu.openb";
constexpr std::string_view kDeviceClassName = "gpu.openb";
constexpr std::int64_t kWholeGpu = 1000;  // thousandths
// The trace has no limit of pods.
constexpr int kPodsOfNode = 1000;
// More of anything than a machine has.
constexpr std::int64_t kMostGpus = 1024;
constexpr std::int64_t kMostAmount = std::int64_t{1} << 40;
constexpr std::int64_t kMostTableSeconds =
    std::chrono::duration_cast<seconds>(kLongestTrace).count();
// A table without times: a pod after the other.
constexpr Duration kBetweenRows = std::chrono::milliseconds(1);

std::string json_string(std::string_view text) {
  std::string json;
  append_json_string(json, text);
  return json;
}

// A row of one of the tables, and the objects that it becomes.
class OpenbRow {
 public:
  OpenbRow(CsvTable& table, Interner& interner, Trace& trace)
      : table_(table), interner_(interner), trace_(trace) {
    admission_.now = trace.start;
  }

  // A number that there must be, in these bounds.
  std::int64_t amount(std::string_view column, std::int64_t most = kMostAmount) {
    const std::int64_t value = table_.number(column).value_or(0);
    if (value >= 0 && value <= most) return value;
    table_.fail(fmt::format("{}: {} is not between 0 and {}", column, value, most));
    return 0;
  }

  // Nothing if it is empty.
  std::optional<Duration> moment(std::string_view column) {
    const std::optional<std::int64_t> second = table_.number(column);
    if (!second) return std::nullopt;
    return seconds(amount(column, kMostTableSeconds));
  }

  std::string name(std::string_view column) {
    std::string text(table_.text(column));
    if (text.empty()) table_.fail(fmt::format("{}: is missing", column));
    return text;
  }

  // The object is there from then on.
  AnyObject add(Duration at, ObjectKind kind, std::string_view json) {
    if (table_.error()) return {};
    Result<AnyObject> object = decode_object(kind, json, interner_, &admission_);
    if (!object) {
      table_.fail(object.error().message);
      return {};
    }
    trace_.steps.push_back({at, DeltaType::kAdded, *object, {}});
    return *std::move(object);
  }

 private:
  CsvTable& table_;
  Interner& interner_;
  Trace& trace_;
  Admission admission_;
};

std::string node_json(std::string_view name, std::int64_t cpu, std::int64_t memory,
                      std::string_view model, std::int64_t counted_gpus) {
  std::string labels = fmt::format("\"kubernetes.io/hostname\":{}", json_string(name));
  if (!model.empty()) labels += fmt::format(",\"{}\":{}", kModelLabel, json_string(model));
  std::string amounts =
      fmt::format("\"cpu\":\"{}m\",\"memory\":\"{}Mi\",\"pods\":\"{}\"", cpu, memory, kPodsOfNode);
  if (counted_gpus > 0)
    amounts += fmt::format(",\"{}\":\"{}\"", kGpuResource, counted_gpus * kWholeGpu);
  return fmt::format(
      R"({{"metadata":{{"name":{},"labels":{{{}}}}},"status":{{"capacity":{{{}}},"allocatable":{{{}}}}}}})",
      json_string(name), labels, amounts, amounts);
}

std::string slice_json(std::string_view node, std::int64_t gpus, std::string_view model) {
  std::string devices;
  for (std::int64_t i = 0; i < gpus; ++i) {
    if (i > 0) devices += ',';
    devices += fmt::format(
        R"({{"name":"gpu-{}","allowMultipleAllocations":true,"attributes":{{"model":{{"string":{}}}}},)"
        R"("capacity":{{"milli":{{"value":"{}"}}}}}})",
        i, json_string(model), kWholeGpu);
  }
  return fmt::format(
      R"({{"metadata":{{"name":{0}}},"spec":{{"driver":"{1}","nodeName":{0},)"
      R"("pool":{{"name":{0},"generation":1,"resourceSliceCount":1}},"devices":[{2}]}}}})",
      json_string(node), kDriver, devices);
}

std::string claim_json(std::string_view pod, std::int64_t gpus, std::int64_t milli) {
  return fmt::format(
      R"({{"metadata":{{"name":{},"namespace":"default"}},"spec":{{"devices":{{"requests":[{{)"
      R"("name":"gpu","exactly":{{"deviceClassName":"{}","allocationMode":"ExactCount","count":{},)"
      R"("capacity":{{"requests":{{"milli":"{}"}}}}}}}}]}}}}}})",
      json_string(pod), kDeviceClassName, gpus, milli);
}

struct OpenbPod {
  std::string name, qos, models;
  std::int64_t cpu = 0, memory = 0, gpus = 0, milli = 0;
};

// "V100M16|V100M32": nodes with one of these.
std::string affinity_json(std::string_view models) {
  std::string values;
  while (!models.empty()) {
    const std::size_t end = std::min(models.find('|'), models.size());
    if (end > 0) values += (values.empty() ? "" : ",") + json_string(models.substr(0, end));
    models.remove_prefix(std::min(end + 1, models.size()));
  }
  return fmt::format(
      R"("affinity":{{"nodeAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":)"
      R"({{"nodeSelectorTerms":[{{"matchExpressions":[{{"key":"{}","operator":"In","values":[{}]}}]}}]}}}}}},)",
      kModelLabel, values);
}

std::string pod_json(const OpenbPod& pod, GpuShare share) {
  std::string labels, more;
  if (!pod.qos.empty()) labels = fmt::format("\"openb/qos\":{}", json_string(pod.qos));
  std::string amounts = fmt::format("\"cpu\":\"{}m\",\"memory\":\"{}Mi\"", pod.cpu, pod.memory);
  if (pod.gpus > 0 && share == GpuShare::kExtendedResource)
    amounts += fmt::format(",\"{}\":\"{}\"", kGpuResource, pod.gpus * pod.milli);
  if (pod.gpus > 0 && share == GpuShare::kDevices)
    more += fmt::format(R"("resourceClaims":[{{"name":"gpu","resourceClaimName":{}}}],)",
                        json_string(pod.name));
  if (!pod.models.empty()) more += affinity_json(pod.models);
  return fmt::format(
      R"({{"metadata":{{"name":{},"namespace":"default","labels":{{{}}}}},"spec":{{{}"containers":[)"
      R"({{"name":"main","resources":{{"requests":{{{}}}}}}}],"terminationGracePeriodSeconds":0}}}})",
      json_string(pod.name), labels, more, amounts);
}

PodPhase end_of(std::string_view phase) {
  return phase == "Failed" ? PodPhase::kFailed : PodPhase::kSucceeded;
}

}  // namespace

bool is_openb_nodes(const CsvTable& table) {
  return table.has("sn") && table.has("cpu_milli") && table.has("memory_mib");
}

bool is_openb_pods(const CsvTable& table) {
  return table.has("name") && table.has("cpu_milli") && table.has("memory_mib") &&
         table.has("num_gpu") && table.has("gpu_milli");
}

Result<void> add_openb_nodes(CsvTable& table, const TraceOptions& options, Interner& interner,
                             Trace& trace) {
  OpenbRow row(table, interner, trace);
  const bool devices = options.gpu_share == GpuShare::kDevices;
  if (devices)
    row.add(
        Duration{0}, ObjectKind::kDeviceClass,
        fmt::format(
            R"({{"metadata":{{"name":"{}"}},"spec":{{"selectors":[{{"cel":{{"expression":"device.driver == '{}'"}}}}]}}}})",
            kDeviceClassName, kDriver));
  while (table.next()) {
    const std::string name = row.name("sn");
    const std::int64_t gpus = row.amount("gpu", kMostGpus);
    const std::string model(table.text("model"));
    row.add(Duration{0}, ObjectKind::kNode,
            node_json(name, row.amount("cpu_milli"), row.amount("memory_mib"), model,
                      devices ? 0 : gpus));
    if (devices && gpus > 0)
      row.add(Duration{0}, ObjectKind::kResourceSlice, slice_json(name, gpus, model));
  }
  if (table.error()) return fail(*table.error());
  return {};
}

Result<void> add_openb_pods(CsvTable& table, const TraceOptions& options, Interner& interner,
                            Trace& trace) {
  OpenbRow row(table, interner, trace);
  const bool timed = table.has("creation_time");
  Duration without_time{0};
  while (table.next()) {
    OpenbPod pod{row.name("name"),
                 std::string(table.text("qos")),
                 std::string(table.text("gpu_spec")),
                 row.amount("cpu_milli"),
                 row.amount("memory_mib"),
                 row.amount("num_gpu", kMostGpus),
                 row.amount("gpu_milli", kWholeGpu)};
    if (pod.gpus > 0 && pod.milli == 0) table.fail("gpu_milli: nothing of its GPUs");
    const Duration arrival =
        row.moment("creation_time").value_or(timed ? Duration{0} : without_time);
    without_time += kBetweenRows;
    const std::optional<Duration> bound = row.moment("scheduled_time");
    const std::optional<Duration> gone = row.moment("deletion_time");
    const bool claims = pod.gpus > 0 && options.gpu_share == GpuShare::kDevices;
    if (claims)
      row.add(arrival, ObjectKind::kResourceClaim, claim_json(pod.name, pod.gpus, pod.milli));
    const AnyObject object = row.add(arrival, ObjectKind::kPod, pod_json(pod, options.gpu_share));
    if (table.error()) break;
    PodPast& past = trace.pods.emplace_back();
    past.uid = std::get<Ref<const Pod>>(object)->uid();
    past.namespace_name = "default";
    past.name = pod.name;
    past.arrived = arrival;
    past.scheduled_there = timed;
    past.bound = bound;
    if (bound && gone) {
      past.run_time = std::max(*gone - *bound, Duration{0});
      past.end = end_of(table.text("pod_phase"));
    } else if (gone) {
      // It was given up before it was scheduled.
      trace.steps.push_back({std::max(*gone, arrival), DeltaType::kDeleted, object, {}});
    }
    trace.length = std::max({trace.length, arrival, gone.value_or(Duration{0})});
  }
  if (table.error()) return fail(*table.error());
  return {};
}

}  // namespace berth::trace
