#include "api/pod_proto.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "api/object_proto.h"
#include "api/pod_parts.h"
#include "api/words.h"

namespace berth {
namespace {

PodCondition read_condition(ProtoReader& proto) {
  PodCondition condition;
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: condition.type = proto.text(); break;
      case 2: condition.status = proto.text(); break;
      case 3: condition.last_probe_time = proto.time(); break;
      case 4: condition.last_transition_time = proto.time(); break;
      case 5: condition.reason = proto.text(); break;
      case 6: condition.message = proto.text(); break;
      case 7: condition.observed_generation = proto.int64(); break;
      default: break;
    }
  });
  return condition;
}

void read_resources(ProtoReader& proto, SymbolHold& symbols, StatusResources& status) {
  status.has_resources = true;
  proto.fields([&](std::uint32_t field) {
    if (field == 2) append_amount(proto, symbols, status.requests);
  });
}

void append_container_status(ProtoReader& proto, SymbolHold& symbols,
                             std::vector<StatusResources>& statuses) {
  StatusResources status;
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: status.container = read_symbol(proto, symbols); break;
      case 10: append_amount(proto, symbols, status.allocated); break;
      case 11: read_resources(proto, symbols, status); break;
      default: break;
    }
  });
  if (status.has_resources) statuses.push_back(std::move(status));
}

void append_condition(ProtoReader& proto, WrittenPod& pod, PodExtra& extra) {
  PodCondition condition = read_condition(proto);
  if (condition.type == "PodScheduled" && condition.status == "True") {
    pod.own.scheduled_condition = true;
  } else if (scheduling_looks_at(condition.type)) {
    extra.conditions.push_back(std::move(condition));
  }
}

PodResourceClaimStatus read_claim_status(ProtoReader& proto) {
  PodResourceClaimStatus status;
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: status.name = proto.text(); break;
      case 2: status.claim_name = proto.text(); break;
      default: break;
    }
  });
  return status;
}

void append_request_mapping(ProtoReader& proto, PodExtendedResourceClaimStatus& status) {
  ContainerExtendedResourceRequest& mapping = status.request_mappings.emplace_back();
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: mapping.container_name = proto.text(); break;
      case 2: mapping.resource_name = proto.text(); break;
      case 3: mapping.request_name = proto.text(); break;
      default: break;
    }
  });
}

PodExtendedResourceClaimStatus read_extended_claim_status(ProtoReader& proto) {
  PodExtendedResourceClaimStatus status;
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: append_request_mapping(proto, status); break;
      case 2: status.claim_name = proto.text(); break;
      default: break;
    }
  });
  return status;
}

void read_status(ProtoReader& proto, WrittenPod& pod, PodExtra& extra) {
  StatusResources own;
  std::vector<StatusResources> init;
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: pod.own.phase = pod_phase(proto.text()); break;
      case 2: append_condition(proto, pod, extra); break;
      case 7: pod.own.start_time = proto.time(); break;
      case 8: append_container_status(proto, extra.symbols, extra.container_resources); break;
      case 10: append_container_status(proto, extra.symbols, init); break;
      case 11: pod.own.nominated_node_name = proto.text(); break;
      case 15: extra.resource_claim_statuses.push_back(read_claim_status(proto)); break;
      case 18: extra.extended_resource_claim_status = read_extended_claim_status(proto); break;
      case 19: append_amount(proto, extra.symbols, own.allocated); break;
      case 20: read_resources(proto, extra.symbols, own); break;
      default: break;
    }
  });
  std::ranges::move(init, std::back_inserter(extra.container_resources));
  if (own.has_resources) extra.pod_resources = std::move(own);
}

}  // namespace

Result<WrittenPod> decode_written_pod_proto(std::string_view message, Interner& interner) {
  ProtoReader proto(message);
  WrittenPod pod(interner);
  WrittenMeta meta;
  auto extra = std::make_unique<PodExtra>(interner.hold());
  proto.fields([&](std::uint32_t field) {
    switch (field) {
      case 1: read_metadata(proto, pod.meta.symbols, meta); break;
      case 2: read_pod_spec(proto, pod, pod.own.node_name); break;
      case 3: read_status(proto, pod, *extra); break;
      default: break;
    }
  });
  if (proto.error()) return fail(*proto.error());
  take_metadata(std::move(meta), pod);
  take_extra(std::move(extra), pod);
  return pod;
}

Result<Ref<const Pod>> decode_pod_proto(std::string_view message, Interner& interner) {
  Result<WrittenPod> pod = decode_written_pod_proto(message, interner);
  if (!pod) return fail(std::move(pod).error());
  return freeze(*std::move(pod), interner);
}

}  // namespace berth
