#include "plugins/node_resources/device_counts.h"

#include <algorithm>
#include <utility>

#include "berth/node_selector.h"

namespace berth::plugins {
namespace {

Symbol name_in(const DeviceNodeSelection& where) { return where.node_name.value_or(Symbol{}); }

}  // namespace

// The counts so far, and the rows for which there will be none.
class DeviceCounts::Count {
 public:
  Count(const NodeTable& nodes, const Symbols& symbols)
      : nodes_(nodes), symbols_(symbols), failed_(nodes.rows()) {
    columns_.devices.resize(nodes.rows());
    columns_.taken.resize(nodes.rows());
  }

  // The nodes that devices are for. `unless_said`: whether they are for all nodes if none are
  // named.
  NodeSet rows_of(const DeviceNodeSelection& where, bool unless_said) {
    NodeSet rows(nodes_.rows());
    if (where.all_nodes) return nodes_.nodes();
    if (const Symbol name = name_in(where); !name.empty()) {
      const NodeRow row = nodes_.find(name);
      if (row != kNoRow && nodes_.has_node(row)) rows.insert(row);
    } else if (where.node_selector) {
      if (is_broken(*where.node_selector)) {
        failed_ = nodes_.nodes();
        return rows;
      }
      const NodeSelector selector = NodeSelector::compile(*where.node_selector, symbols_);
      nodes_.nodes().for_each([&](NodeRow row) {
        if (selector.matches(nodes_.node(row), symbols_)) rows.insert(row);
      });
    } else if (unless_said) {
      return nodes_.nodes();
    }
    return rows;
  }

  void add(const NodeSet& rows, const Result<bool>& matched, bool taken) {
    if (!matched) {
      failed_ |= rows;
    } else if (*matched) {
      rows.for_each([&](NodeRow row) {
        ++columns_.devices[row];
        if (taken) ++columns_.taken[row];
      });
    }
  }

  Columns result() && {
    failed_.for_each([&](NodeRow row) { columns_.devices[row] = columns_.taken[row] = 0; });
    return std::move(columns_);
  }

 private:
  bool is_broken(const std::vector<NodeSelectorTerm>& terms) const {
    return std::ranges::any_of(terms, [&](const NodeSelectorTerm& term) {
      return !CompiledNodeTerm(term, symbols_, "").errors().empty();
    });
  }

  const NodeTable& nodes_;
  const Symbols& symbols_;
  Columns columns_;
  NodeSet failed_;
};

// Parity: selectors see no device that allows multiple allocations, whatever it says.
DeviceCounts::DeviceCounts(const Handle& handle)
    : cluster_(handle.cluster),
      tracker_(ClaimTracker::of(handle)),
      classes_(DeviceClassResources::of(handle)),
      selectors_(handle.cluster.symbol_table(), /*allow_multiple_allocations=*/false) {}

std::shared_ptr<DeviceCounts> DeviceCounts::of(const Handle& handle) {
  return handle.shared->get<DeviceCounts>(
      [&handle] { return std::make_shared<DeviceCounts>(handle); });
}

std::optional<DeviceCounts::Columns> DeviceCounts::count(Symbol resource) {
  const DeviceClass* const device_class = classes_->find(resource);
  if (!device_class) return std::nullopt;
  if (generation_ != cluster_.generation(ObjectKind::kResourceSlice)) refresh();
  selectors_.trim();
  Count count(cluster_.nodes(), cluster_.symbols());
  for (const Ref<const ResourceSlice>& slice : slices_) count_slice(*device_class, slice, count);
  return std::move(count).result();
}

// What is known of slices that are still there stays known.
void DeviceCounts::refresh() {
  std::vector<Ref<const ResourceSlice>> slices;
  std::unordered_map<const ResourceSlice*, SelectorAnswers> answers;
  for (const Ref<const Object>& object : cluster_.list(ObjectKind::kResourceSlice)) {
    const auto* slice = static_cast<const ResourceSlice*>(object.get());
    slices.emplace_back(slice);
    if (auto known = answers_.extract(slice)) answers.insert(std::move(known));
  }
  slices_ = std::move(slices);
  answers_ = std::move(answers);
  generation_ = cluster_.generation(ObjectKind::kResourceSlice);
}

void DeviceCounts::count_slice(const DeviceClass& device_class,
                               const Ref<const ResourceSlice>& counted, Count& count) {
  const ResourceSlice& slice = *counted;
  const bool by_device = slice.per_device_node_selection.value_or(false);
  const NodeSet of_slice = by_device ? NodeSet() : count.rows_of(slice.nodes, /*unless_said=*/true);
  for (std::uint32_t d = 0; d < slice.devices.size(); ++d) {
    const Device& device = slice.devices[d];
    const NodeSet of_device =
        by_device ? count.rows_of(device.nodes, /*unless_said=*/false) : NodeSet();
    const NodeSet& rows = by_device ? of_device : of_slice;
    if (rows.empty()) continue;
    count.add(rows, matches(device_class, counted, d),
              tracker_->allocated().any({slice.driver, slice.pool.name, device.name}));
  }
}

Result<bool> DeviceCounts::matches(const DeviceClass& device_class,
                                   const Ref<const ResourceSlice>& slice, std::uint32_t device) {
  for (const CELDeviceSelector& selector : device_class.selectors) {
    if (!selector.expression) continue;
    Result<bool> matched = selectors_.matches(selectors_.id_of(*selector.expression), slice, device,
                                              answers_[slice.get()]);
    if (!matched || !*matched) return matched;
  }
  return true;
}

}  // namespace berth::plugins
