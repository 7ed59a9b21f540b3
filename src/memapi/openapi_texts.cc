#include "memapi/openapi_texts.h"

#include <utility>

namespace berth::memapi {
namespace {

// By the last part of the message's name.
constexpr std::pair<std::string_view, std::string_view> kMessageTexts[] = {
    {"Pod", "Containers that run together on one node."},
    {"PodSpec", "What a pod is to run, and where it may run."},
    {"PodStatus", "What is known of a pod: its phase, conditions and containers."},
    {"Container", "One program of a pod: its image, command and what it needs."},
    {"Node", "A machine that pods run on."},
    {"NodeSpec", "What is wanted of a node: its taints, whether it takes new pods."},
    {"NodeStatus", "What is known of a node: what it has, and its conditions."},
    {"Namespace", "A space for names; most kinds have their objects in one."},
    {"Service", "A name and an address for a set of pods."},
    {"ConfigMap", "Settings that pods read."},
    {"Secret", "Settings that pods read and few others may."},
    {"Deployment", "Pods of one template, kept at a number and replaced step by step."},
    {"DeploymentSpec",
     "How many pods of which template there should be, and how they are replaced."},
    {"ReplicaSet", "A number of pods of one template."},
    {"StatefulSet", "Pods with names and volumes of their own, made in order."},
    {"DaemonSet", "One pod on every node that suits."},
    {"Job", "Pods that run to completion."},
    {"CronJob", "A Job at given times."},
    {"PersistentVolume", "A piece of storage."},
    {"PersistentVolumeClaim", "A wish for storage."},
    {"StorageClass", "A kind of storage, and how it is made."},
    {"PriorityClass", "A name for a priority of pods."},
    {"PodDisruptionBudget", "How many pods of a set must stay when others evict them."},
    {"Event", "Something that happened to an object."},
    {"Lease", "Who leads, and until when."},
    {"ResourceClaim", "A wish for devices."},
    {"ResourceClaimTemplate", "Of which a claim is made for each pod."},
    {"ResourceSlice", "Devices that a driver offers on nodes."},
    {"DeviceClass", "A kind of devices that claims can ask for."},
    {"ObjectMeta", "Name, labels and what else all objects have."},
    {"Affinity", "Which nodes, and which other pods nearby, a pod wants or avoids."},
    {"Toleration", "A taint that a pod does not mind."},
    {"Taint", "Keeps pods away from a node that do not tolerate it."},
    {"TopologySpreadConstraint", "How evenly pods are spread over parts of the cluster."},
    {"ResourceRequirements", "What a container needs and may use."},
};

constexpr std::pair<std::string_view, std::string_view> kFieldTexts[] = {
    {"metadata", "Name, namespace, labels and annotations of the object."},
    {"spec", "What is wanted."},
    {"status", "What is known. Written by the cluster."},
    {"name", "The name, unique where it stands."},
    {"namespace", "The namespace that the object is in."},
    {"labels", "Names and values by which objects are selected."},
    {"annotations", "Names and values for programs and people; nothing is selected by them."},
    {"replicas", "How many pods there are or should be."},
    {"selector", "Which objects are meant, by their labels."},
    {"template", "Of which pods are made."},
    {"containers", "The programs that run in the pod."},
    {"initContainers", "Programs that run one after the other before the containers start."},
    {"image", "The container image."},
    {"command", "What is run instead of the image's own entry point."},
    {"args", "The arguments of what is run."},
    {"env", "Variables of the environment."},
    {"ports", "The ports that are open."},
    {"resources", "What is requested, and what it may not exceed."},
    {"requests", "What the scheduler sets aside."},
    {"limits", "What may not be exceeded."},
    {"nodeName", "The node that the pod runs on; the scheduler sets it."},
    {"nodeSelector", "Labels that a node must have for the pod."},
    {"affinity", "Which nodes and which neighbours the pod wants or avoids."},
    {"tolerations", "The taints that the pod does not mind."},
    {"topologySpreadConstraints", "How the pods are spread over parts of the cluster."},
    {"schedulerName", "The scheduler that is to place the pod."},
    {"schedulingGates", "The pod is not scheduled while one of these is there."},
    {"priority", "Pods of higher priority are scheduled first and may displace others."},
    {"priorityClassName", "The PriorityClass that gives the pod its priority."},
    {"preemptionPolicy", "Whether the pod may displace others: PreemptLowerPriority or Never."},
    {"restartPolicy", "When containers are started again: Always, OnFailure or Never."},
    {"terminationGracePeriodSeconds", "How long the pod may take to end."},
    {"volumes", "The volumes that containers can mount."},
    {"volumeMounts", "Where volumes are found in the container."},
    {"serviceAccountName", "The ServiceAccount that the pod acts as."},
    {"overhead", "What running the pod costs beside its containers."},
    {"runtimeClassName", "The RuntimeClass that the pod runs with."},
    {"strategy", "How old pods are replaced by new ones."},
    {"updateStrategy", "How old pods are replaced by new ones."},
    {"minReadySeconds", "How long a new pod must be ready to count as available."},
    {"revisionHistoryLimit", "How many old revisions are kept."},
    {"progressDeadlineSeconds", "After how long without progress a rollout has failed."},
    {"paused", "Whether the rollout stands still."},
    {"completions", "How many pods must succeed."},
    {"parallelism", "How many pods may run at once."},
    {"backoffLimit", "How many failures there may be."},
    {"taints", "Keep pods away that do not tolerate them."},
    {"unschedulable", "Whether new pods are kept away."},
    {"capacity", "How much there is."},
    {"allocatable", "How much pods may use."},
    {"conditions", "The latest that is known, by type."},
    {"phase", "Where in its life the object is."},
    {"matchLabels", "Labels that must be there with these values."},
    {"matchExpressions", "Conditions on labels that must all hold."},
    {"key", "The key of a label or taint, or what else it is about."},
    {"operator", "How key and values are compared."},
    {"effect", "What happens to pods that do not tolerate the taint."},
    {"value", "The value."},
    {"data", "The settings by name."},
    {"type", "Which of several types it is."},
    {"reason", "Why, in one word for programs."},
    {"message", "Why, in a sentence for people."},
    {"storageClassName", "The StorageClass of the storage."},
    {"accessModes", "How the storage may be mounted."},
    {"volumeName", "The volume that is or should be bound."},
    {"provisioner", "Who makes the storage."},
    {"maxSkew", "By how much the numbers of pods may differ."},
    {"topologyKey", "The label of nodes that says which part of the cluster they are."},
    {"whenUnsatisfiable", "What happens if it cannot be: DoNotSchedule or ScheduleAnyway."},
    {"ownerReferences", "Whom the object belongs to; it goes when they have gone."},
    {"finalizers", "The object stays until these are removed."},
    {"uid", "Unique over time; the server makes it."},
    {"resourceVersion", "The version of the object; the server makes it."},
    {"generation", "Counts the changes of what is wanted."},
    {"creationTimestamp", "When it was created; the server sets it."},
    {"deletionTimestamp", "When its deletion was asked for, or when it is due."},
    {"managedFields", "Who manages which fields."},
};

template <typename Table>
std::string_view find_text(const Table& table, std::string_view name) {
  for (const auto& [key, text] : table)
    if (key == name) return text;
  return {};
}

}  // namespace

std::string_view describe_message(std::string_view message) {
  return find_text(kMessageTexts, message.substr(message.rfind('.') + 1));
}

std::string_view describe_field(std::string_view field) { return find_text(kFieldTexts, field); }

}  // namespace berth::memapi
