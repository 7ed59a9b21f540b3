// NodeResourcesFit: how it is made, and which nodes it rejects.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <boost/container/small_vector.hpp>

#include "api/names.h"
#include "config/feature_gates.h"
#include "config/load.h"
#include "plugins/arguments.h"
#include "plugins/node_resources/fit.h"
#include "plugins/node_resources/kernels.h"
#include "plugins/node_resources/request.h"

namespace berth::plugins {
namespace {

enum : std::uint8_t { kTooManyPods, kCpu, kMemory, kEphemeralStorage };
constexpr std::string_view kReasons[] = {"Too many pods", "Insufficient cpu", "Insufficient memory",
                                         "Insufficient ephemeral-storage"};

// What PreFilter leaves for Filter.
struct Demand {
  std::int64_t milli_cpu = 0;
  std::int64_t memory = 0;
  std::int64_t ephemeral_storage = 0;
  struct Scalar {
    Symbol name;
    std::int64_t amount = 0;
    bool devices = false;  // a DeviceClass stands behind it
  };
  std::vector<Scalar> scalars;  // those to be checked, in the order of their reasons
};

// One resource that the pod asks for, against what is left of it on each row.
struct Check {
  std::span<const std::int64_t> allocatable;
  std::span<const std::int64_t> used;
  std::int64_t amount = 0;
  std::uint8_t reason = Status::kListed;
  Symbol resource;       // with kListed: what is insufficient
  bool devices = false;  // where a node has none of it, it is for DynamicResources to find some

  // More than the node has when it is empty.
  bool is_hopeless(std::size_t row) const { return amount > allocatable[row]; }
};

// One pass over the rows, 64 at a time: every check gives a word of the rows that it fails; only
// those are looked at one by one.
class ResourcePass {
 public:
  ResourcePass(const Cycle& cycle, FilterPass& pass, const Demand& demand)
      : cycle_(cycle),
        pass_(pass),
        pod_counts_(cycle.nodes().pod_counts()),
        allowed_pods_(cycle.nodes().allocatable_pods()) {
    const NodeTable& nodes = cycle.nodes();
    if (demand.milli_cpu > 0)
      checks_.push_back(
          {nodes.allocatable_milli_cpu(), nodes.requested_milli_cpu(), demand.milli_cpu, kCpu, {}});
    if (demand.memory > 0)
      checks_.push_back(
          {nodes.allocatable_memory(), nodes.requested_memory(), demand.memory, kMemory, {}});
    if (demand.ephemeral_storage > 0)
      checks_.push_back({nodes.allocatable_ephemeral_storage(),
                         nodes.requested_ephemeral_storage(),
                         demand.ephemeral_storage,
                         kEphemeralStorage,
                         {}});
    for (const Demand::Scalar& scalar : demand.scalars)
      checks_.push_back({or_zeros(nodes.allocatable_scalar(scalar.name)),
                         or_zeros(nodes.requested_scalar(scalar.name)), scalar.amount,
                         Status::kListed, scalar.name, scalar.devices});
    failing_.resize(1 + checks_.size());
  }

  void run() {
    pass_.feasible().for_each_word(
        [&](std::size_t word, std::uint64_t feasible) { judge(word, feasible); });
  }

 private:
  // A resource that no node has had, or no pod has asked for, has no column.
  std::span<const std::int64_t> or_zeros(std::span<const std::int64_t> column) {
    if (!column.empty()) return column;
    zeros_.resize(cycle_.nodes().rows());
    return zeros_;
  }

  void judge(std::size_t word, std::uint64_t feasible) {
    // A lonely row (a trial, a replay) costs what it costs; a filled word is run through whole.
    const bool lonely = std::has_single_bit(feasible);
    const std::size_t lone = static_cast<std::size_t>(std::countr_zero(feasible));
    const std::size_t first = word * 64 + (lonely ? lone : 0);
    const std::size_t count = lonely ? 1 : std::min<std::size_t>(64, cycle_.nodes().rows() - first);
    const std::size_t shift = lonely ? lone : 0;

    failing_[0] = full_rows(&pod_counts_[first], &allowed_pods_[first], count);
    std::uint64_t any = failing_[0];
    for (std::size_t c = 0; c < checks_.size(); ++c) {
      const Check& check = checks_[c];
      failing_[1 + c] =
          insufficient_rows({&check.allocatable[first], &check.used[first], check.amount}, count);
      if (check.devices) failing_[1 + c] &= rows_with_some(check, first, count);
      any |= failing_[1 + c];
    }
    for (std::uint64_t rest = any & (feasible >> shift); rest != 0; rest &= rest - 1)
      reject(static_cast<NodeRow>(first), std::countr_zero(rest));
  }

  static std::uint64_t rows_with_some(const Check& check, std::size_t first, std::size_t count) {
    std::uint64_t rows = 0;
    for (std::size_t i = 0; i < count; ++i)
      rows |= std::uint64_t{check.allocatable[first + i] > 0} << i;
    return rows;
  }

  void reject(NodeRow first, int bit) {
    const NodeRow row = first + static_cast<NodeRow>(bit);
    failed_.clear();
    Code code = Code::kUnschedulable;
    for (std::uint32_t f = 0; f < failing_.size(); ++f) {
      if ((failing_[f] >> bit & 1) == 0) continue;
      failed_.push_back(f);
      // Parity: a full node is never hopeless, not even one that takes no pods at all.
      if (f > 0 && checks_[f - 1].is_hopeless(row)) code = Code::kUnschedulableAndUnresolvable;
    }
    if (failed_.size() == 1 && reason(failed_.front()) != Status::kListed)
      pass_.reject(row, code, reason(failed_.front()));
    else
      pass_.reject_listed(row, code, listed());
  }

  std::uint8_t reason(std::uint32_t failed) const {
    return failed == 0 ? std::uint8_t{kTooManyPods} : checks_[failed - 1].reason;
  }

  // The number of the list of reasons for `failed_`. Many nodes fail alike: one list serves them.
  std::uint32_t listed() {
    for (const Listed& known : listed_)
      if (known.failed == failed_) return known.number;
    std::vector<std::string> texts;
    for (const std::uint32_t failed : failed_)
      texts.push_back(
          reason(failed) == Status::kListed
              ? fmt::format("Insufficient {}", cycle_.symbols().text(checks_[failed - 1].resource))
              : std::string(kReasons[reason(failed)]));
    listed_.push_back({failed_, cycle_.list_reasons(std::move(texts))});
    return listed_.back().number;
  }

  struct Listed {
    std::vector<std::uint32_t> failed;
    std::uint32_t number;
  };

  const Cycle& cycle_;
  FilterPass& pass_;
  std::span<const std::int64_t> pod_counts_;
  std::span<const std::int64_t> allowed_pods_;
  // Often there is but one row to look at: the usual checks take no memory of their own.
  static constexpr std::size_t kUsualChecks = 4;
  boost::container::small_vector<Check, kUsualChecks> checks_;
  std::vector<std::int64_t> zeros_;
  // Of the word at hand: full rows, then one per check.
  boost::container::small_vector<std::uint64_t, 1 + kUsualChecks> failing_;
  std::vector<std::uint32_t> failed_;  // of the row at hand: indices into failing_
  std::vector<Listed> listed_;
};

std::vector<BrokenLinear::Point> points_of(
    const std::vector<config::UtilizationShapePoint>& shape) {
  // A shape's scores go to 10.
  std::vector<BrokenLinear::Point> points;
  for (const config::UtilizationShapePoint& point : shape)
    points.emplace_back(point.utilization, std::int64_t{point.score} * 10);
  return points;
}

}  // namespace

NodeResourcesFit::NodeResourcesFit(const config::NodeResourcesFitArgs& args, Gates gates,
                                   SymbolHold symbols,
                                   std::shared_ptr<DeviceClassResources> classes,
                                   std::shared_ptr<DeviceCounts> counts)
    : ignored_resources_(args.ignored_resources.begin(), args.ignored_resources.end()),
      ignored_resource_groups_(args.ignored_resource_groups.begin(),
                               args.ignored_resource_groups.end()),
      strategy_(args.strategy),
      shape_(points_of(args.shape)),
      resources_(args.resources, std::move(symbols)),
      gates_(gates),
      classes_(std::move(classes)),
      counts_(std::move(counts)) {
  defaults_.set(names::kCpu, Quantity::of_milli(kDefaultMilliCpuRequest));
  defaults_.set(names::kMemory, Quantity::of(kDefaultMemoryRequest));
}

Result<std::unique_ptr<Plugin>> NodeResourcesFit::create(const config::PluginArgs& arguments,
                                                         const Handle& handle) {
  Result<config::NodeResourcesFitArgs> args =
      typed_arguments<config::NodeResourcesFitArgs>(arguments, "NodeResourcesFitArgs");
  if (!args) return fail(args.error());
  if (const std::vector<std::string> complaints = config::validate(*args); !complaints.empty()) {
    const std::string text = fmt::format("{}", fmt::join(complaints, ", "));
    return fail(ErrorKind::kInvalid, complaints.size() == 1 ? text : "[" + text + "]");
  }
  const Gates gates{
      .pod_level_resources = handle.gates.enabled("PodLevelResources"),
      .pod_level_status = handle.gates.enabled("InPlacePodLevelResourcesVerticalScaling"),
      .in_place_scaling = handle.gates.enabled("InPlacePodVerticalScaling"),
  };
  return std::make_unique<NodeResourcesFit>(
      *args, gates, SymbolHold(handle.cluster.symbol_table()),
      handle.gates.enabled("DRAExtendedResource") ? DeviceClassResources::of(handle) : nullptr,
      handle.gates.enabled("DRAExtendedResource") ? DeviceCounts::of(handle) : nullptr);
}

std::span<const std::string_view> NodeResourcesFit::reasons() const { return kReasons; }

bool NodeResourcesFit::is_ignored(std::string_view resource) const {
  if (ignored_resources_.empty() && ignored_resource_groups_.empty()) return false;
  // Parity: only extended resources can be ignored, whatever the configuration names.
  return is_extended_resource(resource) &&
         (ignored_resources_.contains(resource) ||
          ignored_resource_groups_.contains(resource.substr(0, resource.find('/'))));
}

PreFilterResult NodeResourcesFit::pre_filter(Cycle& cycle) const {
  const Resources request = incoming_request(cycle.pod(), gates_.pod_level_resources);
  Demand demand{request.milli_cpu, request.memory, request.ephemeral_storage, {}};
  for (const ScalarAmount& scalar : scalars_by_text(request, cycle.symbols()))
    if (!is_ignored(cycle.symbols().text(scalar.name)))
      demand.scalars.push_back({scalar.name, scalar.amount, is_devices(scalar.name)});
  cycle.put(*this, std::move(demand));
  return PreFilterResult::success();
}

void NodeResourcesFit::filter(const Cycle& cycle, FilterPass& pass) const {
  if (const Demand* demand = cycle.find<Demand>(*this)) {
    ResourcePass(cycle, pass, *demand).run();
    return;
  }
  pass.fail_all({"error reading \"PreFilterNodeResourcesFit\" from cycleState: not found"});
}

Outcome NodeResourcesFit::sign(const Pod& pod, std::vector<SignatureFragment>& fragments) const {
  return sign_request(pod, gates_.pod_level_resources, classes_.get(), fragments);
}

}  // namespace berth::plugins
