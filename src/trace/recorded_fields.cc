#include "trace/recorded_fields.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/check.h"

namespace berth::trace {
namespace {

// ---- the lists ----------------------------------------------------------------------------------
//
//   name               the field, with all that is in it
//   name{a b}          of the field only a and b; of a list that of each item
//   name=list          the same, with a list that has a name
//   name[X|Y]{a}       of a list only items whose `type` is X or Y
//   *                  every key of a map
//
// and after the name what it becomes in an anonymous recording:
//
//   @n  a name, or a label's value      @v  the value of a node's label
//   @u  a UID                           @k  a map whose keys are names
//   @-  nothing

struct NamedList {
  std::string_view name;
  std::string_view fields;
};

constexpr NamedList kParts[] = {
    {"meta",
     "name@n namespace@n uid@u resourceVersion generation creationTimestamp deletionTimestamp"
     " labels{*@n} ownerReferences{apiVersion kind name@n uid@u controller}"},
    {"selector", "matchLabels{*@n} matchExpressions{key operator values@n}"},
    {"nodeLabelSelector", "matchLabels{*@v} matchExpressions{key operator values@v}"},
    {"nodeTerm", "matchExpressions{key operator values@v} matchFields{key operator values@n}"},
    {"nodeSelector", "nodeSelectorTerms=nodeTerm"},
    {"podTerm",
     "labelSelector=selector namespaces@n topologyKey namespaceSelector=selector matchLabelKeys"
     " mismatchLabelKeys"},
    {"podAffinity",
     "requiredDuringSchedulingIgnoredDuringExecution=podTerm"
     " preferredDuringSchedulingIgnoredDuringExecution{weight podAffinityTerm=podTerm}"},
    {"affinity",
     "nodeAffinity{requiredDuringSchedulingIgnoredDuringExecution=nodeSelector"
     " preferredDuringSchedulingIgnoredDuringExecution{weight preference=nodeTerm}}"
     " podAffinity=podAffinity podAntiAffinity=podAffinity"},
    {"container",
     "name@n image@n ports{hostPort containerPort protocol hostIP} resources{limits requests}"
     " restartPolicy restartPolicyRules{action} volumeMounts{bindMountOptions}"},
    {"sources",
     "gcePersistentDisk{pdName@n readOnly} awsElasticBlockStore{volumeID@n readOnly}"
     " iscsi{iqn@n readOnly} rbd{image@n readOnly pool@n monitors@n} cinder{volumeID@n readOnly}"
     " azureFile{shareName@n readOnly secretName@n} azureDisk{diskName@n readOnly diskURI@n kind}"
     " vsphereVolume{volumePath@n} portworxVolume{volumeID@n readOnly}"},
    {"volume",
     "name@n +sources persistentVolumeClaim{claimName@n readOnly} ephemeral{} configMap{} secret{}"
     " csi{driver readOnly} image{reference@n}"},
    {"spread",
     "maxSkew topologyKey whenUnsatisfiable labelSelector=selector minDomains nodeAffinityPolicy"
     " nodeTaintsPolicy matchLabelKeys"},
    {"podStatus",
     "phase startTime nominatedNodeName@n"
     " conditions[PodScheduled|DisruptionTarget|PodResizePending]"
     "{type status reason message@- lastTransitionTime observedGeneration}"
     " containerStatuses{name@n allocatedResources resources{requests}}"
     " initContainerStatuses{name@n allocatedResources resources{requests}}"
     " allocatedResources resources{requests} resourceClaimStatuses{name@n resourceClaimName@n}"
     " extendedResourceClaimStatus{resourceClaimName@n"
     " requestMappings{containerName@n resourceName requestName@n}}"},
    {"deviceRequest",
     "name@n deviceClassName@n selectors{cel{expression}} allocationMode count adminAccess"
     " tolerations{key operator value@n effect tolerationSeconds} capacity{requests}"
     " derivedAttributes"},
    {"device",
     "name attributes capacity consumesCounters nodeName@n nodeSelector=nodeSelector allNodes"
     " taints{key value@n effect} bindsToNode bindingConditions bindingFailureConditions"
     " allowMultipleAllocations"},
};

struct KindList {
  ObjectKind kind;
  std::string_view fields;  // beside apiVersion and kind
};

constexpr KindList kKinds[] = {
    {ObjectKind::kPod,
     "metadata=meta spec{nodeName@n schedulerName priority priorityClassName@n preemptionPolicy"
     " terminationGracePeriodSeconds hostNetwork hostUsers overhead nodeSelector{*@v}"
     " affinity=affinity tolerations{key operator value@n effect tolerationSeconds}"
     " topologySpreadConstraints=spread schedulingGates{name} schedulingGroup{podGroupName@n}"
     " containers=container initContainers=container"
     " ephemeralContainers{volumeMounts{bindMountOptions}} volumes=volume"
     " resources{limits requests}"
     " resourceClaims{name@n resourceClaimName@n resourceClaimTemplateName@n}}"
     " status=podStatus"},
    {ObjectKind::kNode,
     "metadata{+meta labels{*@v}} spec{unschedulable taints{key value@n effect}"
     " podPreemptionPolicy} status{capacity allocatable conditions{type status}"
     " images{names@n sizeBytes} declaredFeatures}"},
    {ObjectKind::kNamespace, "metadata=meta"},
    {ObjectKind::kService, "metadata=meta spec{selector{*@n}}"},
    {ObjectKind::kReplicationController,
     "metadata=meta spec{selector{*@n} template{metadata{labels{*@n}}}}"},
    {ObjectKind::kReplicaSet, "metadata=meta spec{selector=selector}"},
    {ObjectKind::kStatefulSet, "metadata=meta spec{selector=selector}"},
    {ObjectKind::kPriorityClass, "metadata=meta value globalDefault preemptionPolicy"},
    {ObjectKind::kPodDisruptionBudget,
     "metadata=meta spec{selector=selector} status{disruptionsAllowed disruptedPods@k}"},
    {ObjectKind::kPersistentVolume,
     "metadata{+meta labels{*@v} annotations{pv.kubernetes.io/bound-by-controller"
     " volume.beta.kubernetes.io/storage-class@n}}"
     " spec{capacity accessModes claimRef{namespace@n name@n uid@u resourceVersion}"
     " storageClassName@n volumeMode nodeAffinity{required=nodeSelector}"
     " volumeAttributesClassName@n +sources csi{driver readOnly volumeHandle@n}} status{phase}"},
    {ObjectKind::kPersistentVolumeClaim,
     "metadata{+meta annotations{pv.kubernetes.io/bind-completed"
     " pv.kubernetes.io/bound-by-controller volume.kubernetes.io/selected-node@n"
     " volume.beta.kubernetes.io/storage-class@n}}"
     " spec{accessModes resources{requests} volumeName@n selector=selector storageClassName@n"
     " volumeMode volumeAttributesClassName@n} status{phase}"},
    {ObjectKind::kStorageClass,
     "metadata=meta provisioner volumeBindingMode"
     " allowedTopologies{matchLabelExpressions{key values@v}}"},
    {ObjectKind::kCSINode,
     "metadata{+meta annotations{storage.alpha.kubernetes.io/migrated-plugins}}"
     " spec{drivers{name allocatable{count}}}"},
    // Its name is that of a piece of software.
    {ObjectKind::kCSIDriver,
     "metadata{+meta name} spec{storageCapacity preventPodSchedulingIfMissing}"},
    {ObjectKind::kCSIStorageCapacity,
     "metadata=meta nodeTopology=nodeLabelSelector storageClassName@n capacity maximumVolumeSize"},
    {ObjectKind::kVolumeAttachment,
     "metadata=meta spec{attacher source{persistentVolumeName@n} nodeName@n}"},
    {ObjectKind::kResourceClaim,
     "metadata{+meta finalizers annotations{resource.kubernetes.io/extended-resource-claim}}"
     " spec{devices{requests{name@n exactly=deviceRequest firstAvailable=deviceRequest}"
     " constraints{requests@n matchAttribute distinctAttribute}}}"
     " status{allocation{devices{results{request@n driver pool@n device adminAccess"
     " tolerations{key operator value@n effect tolerationSeconds} bindingConditions"
     " bindingFailureConditions shareID consumedCapacity skipNodeOperations}}"
     " nodeSelector=nodeSelector allocationTimestamp}"
     " reservedFor{apiGroup resource name@n uid@u}"
     " devices{driver pool@n device shareID"
     " conditions{type status reason lastTransitionTime observedGeneration}}}"},
    {ObjectKind::kResourceSlice,
     "metadata=meta spec{driver pool{name@n generation resourceSliceCount} nodeName@n"
     " nodeSelector=nodeSelector allNodes devices=device perDeviceNodeSelection sharedCounters}"},
    {ObjectKind::kDeviceClass,
     "metadata=meta spec{selectors{cel{expression}} extendedResourceName}"},
    {ObjectKind::kDeviceTaintRule,
     "metadata=meta spec{deviceSelector{driver pool@n device} taint{key value@n effect "
     "timeAdded}}"},
    {ObjectKind::kPodGroup,
     "metadata=meta spec{schedulingPolicy{basic gang{minCount}}"
     " schedulingConstraints{topology{key}} disruptionMode{single all} priorityClassName@n priority"
     " preemptionPolicy resourceClaims{name@n resourceClaimName@n resourceClaimTemplateName@n}}"
     " status{conditions{type status reason message@- lastTransitionTime observedGeneration}"
     " resourceClaimStatuses{name@n resourceClaimName@n}}"},
};

// ---- reading them -------------------------------------------------------------------------------

enum class Secret : char {
  kNone = 0,
  kName = 'n',
  kNodeLabel = 'v',
  kUid = 'u',
  kKeys = 'k',
  kDropped = '-',
};

struct KeptField;
using KeptFields = std::vector<KeptField>;

struct KeptField {
  std::string_view name;
  Secret secret = Secret::kNone;
  bool whole = true;  // without a list of its own
  std::vector<std::string_view> types;
  KeptFields fields;
};

class ListReader {
 public:
  explicit ListReader(std::string_view text) : text_(text) {}

  KeptFields read() {
    KeptFields fields;
    while (true) {
      while (!text_.empty() && text_.front() == ' ') text_.remove_prefix(1);
      if (text_.empty() || take('}')) return fields;
      if (take('+')) {
        for (KeptField& field : part(word())) put(fields, std::move(field));
      } else {
        put(fields, field());
      }
    }
  }

 private:
  bool take(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  std::string_view word() {
    const std::size_t end = std::min(text_.find_first_of(" {}=@[]|+"), text_.size());
    const std::string_view found = text_.substr(0, end);
    text_.remove_prefix(end);
    return found;
  }
  KeptField field() {
    KeptField field;
    field.name = word();
    BERTH_CHECK(!field.name.empty());
    if (take('@')) {
      field.secret = static_cast<Secret>(text_.front());
      text_.remove_prefix(1);
    }
    if (take('[')) {
      do field.types.push_back(word());
      while (take('|'));
      BERTH_CHECK(take(']'));
    }
    field.whole = false;
    if (take('{'))
      field.fields = read();
    else if (take('='))
      field.fields = part(word());
    else
      field.whole = true;
    return field;
  }
  static KeptFields part(std::string_view name) {
    const auto* const found = std::ranges::find(kParts, name, &NamedList::name);
    BERTH_CHECK(found != std::end(kParts));
    return ListReader(found->fields).read();
  }
  // Instead of one of that name.
  static void put(KeptFields& fields, KeptField field) {
    std::erase_if(fields, [&](const KeptField& other) { return other.name == field.name; });
    fields.push_back(std::move(field));
  }

  std::string_view text_;
};

// ---- taking what they name ----------------------------------------------------------------------

class FieldTaker {
 public:
  explicit FieldTaker(const Anonymiser* anonymiser) : anonymiser_(anonymiser) {}

  JsonValue take(const JsonValue& value, const KeptField& by) const {
    if (value.kind == JsonValue::Kind::kArray) return take_items(value, by);
    if (by.whole) return disguised(value, by.secret);
    if (value.kind == JsonValue::Kind::kObject) return take_members(value, by.fields);
    return {};
  }

  JsonValue take_members(const JsonValue& object, const KeptFields& fields) const {
    JsonValue taken = JsonValue::object();
    for (const JsonMember& member : object.members) {
      const auto by = std::ranges::find_if(fields, [&](const KeptField& field) {
        return field.name == "*" || field.name == member.name;
      });
      if (by == fields.end() || member.value.is_null()) continue;
      if (anonymiser_ && by->secret == Secret::kDropped) continue;
      JsonValue value = take(member.value, *by);
      if (!is_empty(value, *by)) taken.add(member.name, std::move(value));
    }
    return taken;
  }

 private:
  // Items of which nothing is left, such as a container's mounts.
  static bool is_empty(const JsonValue& value, const KeptField& by) {
    return value.is_null() ||
           (value.kind == JsonValue::Kind::kArray && !by.whole &&
            std::ranges::all_of(value.items, [](const JsonValue& item) {
              return item.kind == JsonValue::Kind::kObject && item.members.empty();
            }));
  }

  JsonValue take_items(const JsonValue& list, const KeptField& by) const {
    JsonValue taken = JsonValue::array();
    for (const JsonValue& item : list.items) {
      if (!by.types.empty()) {
        const JsonValue* type = item.find("type");
        if (!type || std::ranges::find(by.types, type->text) == by.types.end()) continue;
      }
      taken.items.push_back(take(item, by));
    }
    return taken;
  }

  JsonValue disguised(JsonValue value, Secret secret) const {
    if (!anonymiser_ || secret == Secret::kNone) return value;
    if (secret == Secret::kKeys) {
      for (JsonMember& member : value.members) member.name = anonymiser_->name(member.name);
    } else if (value.kind == JsonValue::Kind::kString) {
      value.text = secret == Secret::kUid         ? anonymiser_->uid(value.text)
                   : secret == Secret::kNodeLabel ? anonymiser_->node_label(value.text)
                                                  : anonymiser_->name(value.text);
    } else if (value.kind == JsonValue::Kind::kObject) {
      return {};  // it should be a text
    }
    return value;
  }

  const Anonymiser* anonymiser_;
};

}  // namespace

struct RecordedFields::Lists {
  std::map<ObjectKind, KeptFields> by_kind;
};

namespace {

KeptFields whole_list(const KindList& kind) {
  KeptFields fields = ListReader("apiVersion kind").read();
  std::ranges::move(ListReader(kind.fields).read(), std::back_inserter(fields));
  return fields;
}

}  // namespace

RecordedFields::RecordedFields(std::optional<Anonymiser> anonymiser)
    : anonymiser_(anonymiser), lists_([] {
        auto lists = std::make_unique<Lists>();
        for (const KindList& kind : kKinds) lists->by_kind.emplace(kind.kind, whole_list(kind));
        return lists;
      }()) {}

RecordedFields::~RecordedFields() = default;

bool RecordedFields::knows(ObjectKind kind) const { return lists_->by_kind.contains(kind); }

JsonValue RecordedFields::of(ObjectKind kind, const JsonValue& object) const {
  const auto list = lists_->by_kind.find(kind);
  if (list == lists_->by_kind.end()) return JsonValue::object();
  return FieldTaker(anonymiser_ ? &*anonymiser_ : nullptr).take_members(object, list->second);
}

std::string RecordedFields::name(std::string_view text) const {
  return anonymiser_ ? anonymiser_->name(text) : std::string(text);
}

std::string RecordedFields::uid(std::string_view text) const {
  return anonymiser_ ? anonymiser_->uid(text) : std::string(text);
}

}  // namespace berth::trace
