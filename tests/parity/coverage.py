"""What a corpus of clusters and decisions has covered, and what it never reached.

Each category lists all there is; what the clusters, flags and decisions show is counted beside it.
Whatever appears that is not listed is counted too, so that the list can be completed.
"""
import collections
import os
import re

# --- everything there is ---------------------------------------------------------------------------
REASONS = [
    ("NodeUnschedulable", "UnschedulableAndUnresolvable", "node(s) were unschedulable"),
    ("TaintToleration", "UnschedulableAndUnresolvable", "node(s) had untolerated taint(s)"),
    ("NodeAffinity", "UnschedulableAndUnresolvable", "pod affinity terms conflict"),
    ("NodeAffinity", "UnschedulableAndUnresolvable", "node(s) didn't match scheduler-enforced node affinity"),
    ("NodeAffinity", "UnschedulableAndUnresolvable", "node(s) didn't match Pod's node affinity/selector"),
    ("NodePorts", "Unschedulable", "node(s) didn't have free ports for the requested pod ports"),
    ("NodeResourcesFit", "Unschedulable", "Too many pods"),
    ("NodeResourcesFit", "UnschedulableAndUnresolvable", "Too many pods"),  # beside another reason
    ("PodTopologySpread", "UnschedulableAndUnresolvable", "node(s) didn't match pod topology spread constraints (missing required label)"),
    ("PodTopologySpread", "Unschedulable", "node(s) didn't match pod topology spread constraints"),
    ("InterPodAffinity", "UnschedulableAndUnresolvable", "parsing pod: ..."),
    ("InterPodAffinity", "UnschedulableAndUnresolvable", "node(s) didn't match pod affinity rules"),
    ("InterPodAffinity", "Unschedulable", "node(s) didn't match pod anti-affinity rules"),
    ("InterPodAffinity", "Unschedulable", "node(s) didn't satisfy existing pods anti-affinity rules"),
    ("NodeDeclaredFeatures", "UnschedulableAndUnresolvable", "node(s) didn't match Pod's required features"),
    ("VolumeRestrictions", "Unschedulable", "node(s) had no available disk"),
    ("VolumeRestrictions", "Unschedulable", "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"),
    ("VolumeRestrictions", "UnschedulableAndUnresolvable", 'persistentvolumeclaim "..." not found'),
    ("NodeVolumeLimits", "Unschedulable", "node(s) exceed max volume count"),
    ("NodeVolumeLimits", "Unschedulable", "... CSI driver is not installed on the node"),
    ("NodeVolumeLimits", "UnschedulableAndUnresolvable", 'looking up PVC ...: persistentvolumeclaim "..." not found'),
] + [
    ("VolumeBinding", "UnschedulableAndUnresolvable", text) for text in (
        'persistentvolumeclaim "..." not found', 'waiting for ephemeral volume controller to create the persistentvolumeclaim "..."',
        'persistentvolumeclaim "..." bound to non-existent persistentvolume "..."', 'persistentvolumeclaim "..." is being deleted',
        "PVC ... was not created for pod ... (pod is not owner)", "pod has unbound immediate PersistentVolumeClaims",
        "node(s) didn't match PersistentVolume's node affinity", "node(s) didn't find available persistent volumes to bind",
        "node(s) did not have enough free storage", "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)")
] + [
    ("VolumeZone", "UnschedulableAndUnresolvable", text) for text in (
        "node(s) had no available volume zone", "PersistentVolumeClaim had no name", 'persistentvolumeclaim "..." not found',
        "PersistentVolumeClaim had no pv name and storageClass name", 'storageclass.storage.k8s.io "..." not found',
        'VolumeBindingMode not set for StorageClass "..."', "PersistentVolume had no name", 'persistentvolume "..." not found')
] + [
    ("DynamicResources", "UnschedulableAndUnresolvable", text) for text in (
        "cannot allocate all claims", "invalid resource pools were encountered", "request ...: device class ... does not exist",
        "resource claim ... is in the process of being allocated", "resourceclaim not available on the node",
        "resource claim ..., request ...: has subrequests, but the DRAPrioritizedList feature is disabled",
        "cannot fit resource", "cannot schedule extended resource claim", 'could not find ResourceClaim "..."', 'resourceclaim "..." is being deleted',
        'pod "...": ResourceClaim not created yet', "ResourceClaim ... was not created for Pod ... (Pod is not owner)")
] + [
    ("NodeResourcesFit", code, f"Insufficient {what}")
    for what in ("cpu", "memory", "ephemeral-storage", "nvidia.com/gpu", "example.com/foo", "hugepages-2Mi")
    for code in ("Unschedulable", "UnschedulableAndUnresolvable")
]
# Sentences of the list in the specification that a single decision cannot show.
OUT_OF_REACH = [
    "NodeName: a pod that names a node is placed, not judged",
    "SchedulingGates, GangScheduling: PreEnqueue and Permit are no part of a decision (scenario tests)",
]
ERRORS = ["NodeAffinity PreScore", "PodTopologySpread PreFilter", "PodTopologySpread PreScore", "invalid score", "VolumeBinding PreFilter"] + [
    f"{plugin} Filter: {text}" for plugin, text in (
        ("VolumeRestrictions", 'cannot read "..." from cycleState'), ("NodeVolumeLimits", "PersistentVolumeClaim had no name"),
        ("NodeVolumeLimits", "PVC ... was not created for pod ... (pod is not owner)"), ("NodeVolumeLimits", "converting volume(...) from inline to csi: ..."),
        ("VolumeBinding", "could not translate pv: ..."), ("DynamicResources", "class ...: selector #...: CEL compile error: ..."),
        ("DynamicResources", "class ...: selector #...: CEL runtime error: ..."), ("DynamicResources", "claim ...: selector #...: CEL runtime error: ..."))
] + [
    f"DynamicResources Filter: claim ..., {text}" for text in (
        "request ...: asks for all devices, but resource pool ... is currently being updated", "request ...: asks for all devices, but resource pool ... is currently invalid",
        "request ...: cannot add device ... because a claim constraint would not be satisfied", "request ...: has capacity requests, but the DRAConsumableCapacity feature is disabled",
        "subrequest ...: has capacity requests, but the DRAConsumableCapacity feature is disabled")
]
PREEMPTION = [
    "a node and victims", "not eligible due to preemptionPolicy=Never.", "No preemption victims found for incoming pod",
    "Preemption is not helpful for scheduling", "not eligible due to a terminating pod on the nominated node.",
    "not found (a PreFilter that ended early)", "a budget would be broken",
]
SCORES = ["ImageLocality", "InterPodAffinity", "NodeAffinity", "NodeResourcesBalancedAllocation", "NodeResourcesFit", "PodTopologySpread", "TaintToleration", "VolumeBinding", "DynamicResources"]
NODE_OPERATORS = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "field In", "field NotIn"]
LABEL_OPERATORS = ["In", "NotIn", "Exists", "DoesNotExist", "matchLabels", "{}", "absent"]
TOLERATION_OPERATORS = ["Equal", "Exists", "", "Gt", "Lt"]
TAINT_EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"]
SPREAD = [f"whenUnsatisfiable {w}" for w in ("DoNotSchedule", "ScheduleAnyway")] + [f"{p} {v}" for p in ("nodeAffinityPolicy", "nodeTaintsPolicy") for v in ("Honor", "Ignore", "absent")] + ["minDomains", "matchLabelKeys"]
POD_AFFINITY = [f"{k} {h}" for k in ("podAffinity", "podAntiAffinity") for h in ("required", "preferred")] + ["namespaces", "namespaceSelector", "matchLabelKeys", "mismatchLabelKeys"]
PORTS = ["TCP", "UDP", "SCTP", "hostIP wildcard", "hostIP given", "hostIP ::", "sidecar's"]
PODS = ["overhead", "pod-level resources", "init container", "sidecar", "nominated", "preemptionPolicy Never", "terminating", "status resources", "owner ReplicaSet",
        "owner StatefulSet", "owner ReplicationController", "owner of another kind", "hostNetwork without hostUsers", "RestartAllContainers", "unknown operator", "no containers"]
IN_TREE = ["awsElasticBlockStore", "gcePersistentDisk", "cinder", "azureDisk", "azureFile", "vsphereVolume", "portworxVolume"]
VOLUMES = [f"pod's {source}" for source in ["persistentVolumeClaim", "ephemeral", "rbd", "iscsi", *IN_TREE]] + [f"volume from {source}" for source in ["csi", "local", *IN_TREE]] + [
    "claim bound", "claim not bound", "claim ReadWriteOncePod", "claim with a selected node", "claim with a selector", "claim of the old annotation's class", "claim of a pod",
    "volume with node affinity", "volume meant for a claim", "volume in several zones", "volume with an old zone label", "CSINode with migrated plugins", "CSINode without a limit",
    "VolumeAttachment", "CSIStorageCapacity", "CSIDriver that is not to be missing", "class with allowed topologies"]
ARGUMENTS = [
    "DefaultPreemption.minCandidateNodesAbsolute", "DefaultPreemption.minCandidateNodesPercentage", "InterPodAffinity.hardPodAffinityWeight",
    "InterPodAffinity.ignorePreferredTermsOfExistingPods", "NodeAffinity.addedAffinity.preferred", "NodeAffinity.addedAffinity.required",
    "NodeResourcesBalancedAllocation.resources", "NodeResourcesFit.ignoredResourceGroups", "NodeResourcesFit.ignoredResources",
    "NodeResourcesFit.scoringStrategy LeastAllocated", "NodeResourcesFit.scoringStrategy MostAllocated", "NodeResourcesFit.scoringStrategy RequestedToCapacityRatio",
    "PodTopologySpread.defaultConstraints", "PodTopologySpread.defaultConstraints empty", "plugins disabled", "weights",
]
MODES = ["--sequence", "--preempt", "--config", "--profile", "--feature-gates"]

UNIVERSE = {
    "rejections": ["{0}: {2} [{1}]".format(*r) for r in REASONS], "errors": ERRORS, "preemption": PREEMPTION, "scores that differ between nodes": SCORES,
    "node selector operators": NODE_OPERATORS, "label selector operators": LABEL_OPERATORS, "toleration operators": TOLERATION_OPERATORS,
    "taint effects": TAINT_EFFECTS, "spread constraints": SPREAD, "pod affinity": POD_AFFINITY, "host ports": PORTS, "pods": PODS,
    "volumes": VOLUMES,
    "plugin arguments": ARGUMENTS, "modes": MODES,
}
KNOWN_OPERATORS = {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Equal", ""}

# Arguments that a configuration's text shows.
ARGUMENT_MARKS = {
    "DefaultPreemption.minCandidateNodesAbsolute": "minCandidateNodesAbsolute:", "DefaultPreemption.minCandidateNodesPercentage": "minCandidateNodesPercentage:",
    "InterPodAffinity.hardPodAffinityWeight": "hardPodAffinityWeight:", "InterPodAffinity.ignorePreferredTermsOfExistingPods": "ignorePreferredTermsOfExistingPods:",
    "NodeAffinity.addedAffinity.preferred": r"addedAffinity:[\s\S]*preferredDuring", "NodeAffinity.addedAffinity.required": r"addedAffinity:[\s\S]*requiredDuring",
    "NodeResourcesBalancedAllocation.resources": r"BalancedAllocation\s+args:\s+resources:", "NodeResourcesFit.ignoredResourceGroups": "ignoredResourceGroups:",
    "NodeResourcesFit.ignoredResources": "ignoredResources:", "NodeResourcesFit.scoringStrategy LeastAllocated": "type: LeastAllocated",
    "NodeResourcesFit.scoringStrategy MostAllocated": "type: MostAllocated", "NodeResourcesFit.scoringStrategy RequestedToCapacityRatio": "type: RequestedToCapacityRatio",
    "PodTopologySpread.defaultConstraints": r"defaultConstraints:\s*\n\s*-", "PodTopologySpread.defaultConstraints empty": r"defaultConstraints: \[\]",
    "plugins disabled": "disabled:", "weights": "weight: (9|11|23)",
}




def without_names(text):
    """A sentence about storage objects or claims, whichever they are."""
    text = re.sub(r'"[^"]*"', '"..."', text)
    text = re.sub(r"^[^ ]+ (CSI driver is not installed on the node)", r"... \1", text)
    text = re.sub(r"^(looking up PVC) [^ ]+:", r"\1 ...:", text)
    text = re.sub(r"^PVC [^ ]+ was not created for pod [^ ]+ ", "PVC ... was not created for pod ... ", text)
    text = re.sub(r"^converting volume\([^)]*\) from inline to csi: .*", "converting volume(...) from inline to csi: ...", text, flags=re.S)
    text = re.sub(r"\b(claim|class|request|subrequest|pool|device|ResourceClaim|Pod) (?!claim)[^\s:,]*[-/\d][^\s:,]*", r"\1 ...", text)
    text = re.sub(r"\b(class|device class) (\w+)(?=:| does)", r"\1 ...", text)
    text = re.sub(r"selector #\d+: (CEL \w+ error): .*", r"selector #...: \1: ...", text, flags=re.S)
    return re.sub(r"^could not translate pv: .*", "could not translate pv: ...", text, flags=re.S)


def claim_marks(claim):
    spec, notes = claim["spec"], claim["metadata"].get("annotations", {})
    yield "claim bound" if spec.get("volumeName") else "claim not bound"
    for what, there in (("claim ReadWriteOncePod", "ReadWriteOncePod" in spec["accessModes"]), ("claim with a selected node", "volume.kubernetes.io/selected-node" in notes),
                        ("claim with a selector", "selector" in spec), ("claim of the old annotation's class", "volume.beta.kubernetes.io/storage-class" in notes),
                        ("claim of a pod", claim["metadata"].get("ownerReferences"))):
        if there:
            yield what


def volume_marks(volume):
    spec, labels = volume["spec"], volume["metadata"].get("labels", {})
    for source in ["csi", "local", *IN_TREE]:
        if source in spec:
            yield f"volume from {source}"
    for what, there in (("volume with node affinity", spec.get("nodeAffinity")), ("volume meant for a claim", "claimRef" in spec and volume["status"]["phase"] == "Available"),
                        ("volume in several zones", any("__" in v for v in labels.values())), ("volume with an old zone label", "failure-domain.beta.kubernetes.io/zone" in labels)):
        if there:
            yield what


def csi_node_marks(node):
    if node["metadata"].get("annotations"):
        yield "CSINode with migrated plugins"
    if any("count" not in d.get("allocatable", {}) for d in node["spec"]["drivers"]):
        yield "CSINode without a limit"


STORAGE_MARKS = {
    "PersistentVolumeClaim": claim_marks, "PersistentVolume": volume_marks, "CSINode": csi_node_marks, "VolumeAttachment": lambda o: ["VolumeAttachment"],
    "CSIStorageCapacity": lambda o: ["CSIStorageCapacity"], "CSIDriver": lambda o: ["CSIDriver that is not to be missing"] if o["spec"].get("preventPodSchedulingIfMissing") else [],
    "StorageClass": lambda o: ["class with allowed topologies"] if o.get("allowedTopologies") else [],
}


class Coverage:
    def __init__(self):
        self.counts = {category: collections.Counter() for category in UNIVERSE}
        self.configs = {}

    def see(self, category, what, times=1):
        self.counts[category][what] += times

    def note(self, cluster, flags, decisions, folder):
        for flag in flags:
            if flag.startswith("--"):
                self.see("modes", flag)
        if "--config" in flags:
            path = os.path.join(folder, flags[flags.index("--config") + 1])
            if path not in self.configs:
                with open(path) as f:
                    self.configs[path] = f.read()
            for argument, mark in ARGUMENT_MARKS.items():
                if re.search(mark, self.configs[path]):
                    self.see("plugin arguments", argument)
        for item in cluster["items"]:
            if item["kind"] == "Pod":
                self.note_pod(item)
            elif item["kind"] in STORAGE_MARKS:
                for what in STORAGE_MARKS[item["kind"]](item):
                    self.see("volumes", what)
            elif item["kind"] == "Node":
                for taint in item["spec"].get("taints", []):
                    self.see("taint effects", taint["effect"])
        protected = self.protected_pods(cluster)
        for decision in decisions:
            self.note_decision(decision)
            if protected & set(decision.get("preempt", {}).get("victims", [])):
                self.see("preemption", "a budget would be broken")

    @staticmethod
    def protected_pods(cluster):
        """Pods that a budget of the plain form allows nobody to disrupt."""
        found = set()
        for budget in cluster["items"]:
            labels = budget.get("spec", {}).get("selector", {}).get("matchLabels") if budget["kind"] == "PodDisruptionBudget" else None
            if not labels or budget["status"]["disruptionsAllowed"] > 0:
                continue
            for pod in cluster["items"]:
                m = pod["metadata"]
                if pod["kind"] == "Pod" and m["namespace"] == budget["metadata"]["namespace"] and labels.items() <= m.get("labels", {}).items():
                    found.add(f"{m['namespace']}/{m['name']}")
        return found

    # --- decisions
    def note_decision(self, d):
        verdicts = list(d.get("rejected", {}).values()) + ([d["preFilter"]] if "preFilter" in d else [])
        for verdict in verdicts:
            if verdict["code"] == "Error":  # among the errors
                continue
            for reason in verdict.get("reasons", []):
                reason = re.sub(r"^parsing pod: .*", "parsing pod: ...", reason, flags=re.S)
                if "Volume" in verdict.get("plugin", "") or verdict.get("plugin") == "DynamicResources":
                    reason = without_names(reason)
                self.see("rejections", f"{verdict.get('plugin', '')}: {reason} [{verdict['code']}]")
        by_plugin = collections.defaultdict(set)
        for scores in d.get("scores", {}).values():
            for plugin, score in scores.items():
                by_plugin[plugin].add(score)
        for plugin, scores in by_plugin.items():
            if len(scores) > 1:
                self.see("scores that differ between nodes", plugin)
        if "error" in d:
            self.note_error(d["error"])
        if "preempt" in d:
            self.note_preemption(d["preempt"])

    def note_error(self, text):
        point = re.match(r'running (\w+) plugin "(\w+)"', text)
        filtering = re.match(r'running "(\w*Volume\w*|DynamicResources)" filter plugin: (.*)', text, flags=re.S)
        if filtering:
            self.see("errors", f"{filtering[1]} Filter: {without_names(filtering[2])}")
        elif point:
            self.see("errors", f"{point[2]} {point[1]}")
        else:
            self.see("errors", "invalid score" if "invalid score" in text else text[:80])

    def note_preemption(self, p):
        if p.get("node"):
            self.see("preemption", "a node and victims")
        message = p.get("message", "")
        if message == "not found":
            self.see("preemption", "not found (a PreFilter that ended early)")
        for sentence in PREEMPTION[1:5]:
            if sentence in message:
                self.see("preemption", sentence)

    # --- pods
    def note_pod(self, pod):
        spec = pod["spec"]
        for toleration in spec.get("tolerations", []):
            self.see("toleration operators", toleration.get("operator", ""))
        affinity = spec.get("affinity", {})
        self.note_node_affinity(affinity.get("nodeAffinity", {}))
        for kind in ("podAffinity", "podAntiAffinity"):
            self.note_pod_affinity(kind, affinity.get(kind, {}))
        for constraint in spec.get("topologySpreadConstraints", []):
            self.see("spread constraints", f"whenUnsatisfiable {constraint['whenUnsatisfiable']}")
            for policy in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
                self.see("spread constraints", f"{policy} {constraint.get(policy, 'absent')}")
            for key in ("minDomains", "matchLabelKeys"):
                if key in constraint:
                    self.see("spread constraints", key)
            self.note_selector(constraint.get("labelSelector"))
        self.note_ports(spec)
        self.note_shape(pod, spec)

    def note_selector(self, selector):
        if selector is None:
            self.see("label selector operators", "absent")
        elif not selector:
            self.see("label selector operators", "{}")
        else:
            if selector.get("matchLabels"):
                self.see("label selector operators", "matchLabels")
            for expression in selector.get("matchExpressions", []):
                self.note_operator("label selector operators", expression["operator"])

    def note_operator(self, category, operator, prefix=""):
        if operator in KNOWN_OPERATORS:
            self.see(category, prefix + operator)
        else:
            self.see("pods", "unknown operator")

    def note_node_affinity(self, affinity):
        required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution", {}).get("nodeSelectorTerms", [])
        preferred = [t["preference"] for t in affinity.get("preferredDuringSchedulingIgnoredDuringExecution", [])]
        for term in required + preferred:
            for expression in term.get("matchExpressions", []):
                self.note_operator("node selector operators", expression["operator"])
            for field in term.get("matchFields", []):
                self.note_operator("node selector operators", field["operator"], "field ")

    def note_pod_affinity(self, kind, affinity):
        for how in ("required", "preferred"):
            for term in affinity.get(how + "DuringSchedulingIgnoredDuringExecution", []):
                term = term.get("podAffinityTerm", term)
                self.see("pod affinity", f"{kind} {how}")
                self.note_selector(term.get("labelSelector"))
                for key in ("namespaces", "namespaceSelector", "matchLabelKeys", "mismatchLabelKeys"):
                    if key in term:
                        self.see("pod affinity", key)

    def note_ports(self, spec):
        for container in spec["containers"] + spec.get("initContainers", []):
            for port in container.get("ports", []):
                if not port.get("hostPort"):
                    continue
                self.see("host ports", port.get("protocol") or "TCP")
                ip = port.get("hostIP", "")
                self.see("host ports", "hostIP ::" if ip == "::" else "hostIP wildcard" if ip in ("", "0.0.0.0") else "hostIP given")
                if container.get("restartPolicy") == "Always":
                    self.see("host ports", "sidecar's")

    def note_shape(self, pod, spec):
        status = pod.get("status", {})
        init = spec.get("initContainers", [])
        marks = {
            "overhead": spec.get("overhead"), "pod-level resources": spec.get("resources"),
            "init container": any(c.get("restartPolicy") != "Always" for c in init), "sidecar": any(c.get("restartPolicy") == "Always" for c in init),
            "nominated": status.get("nominatedNodeName"), "preemptionPolicy Never": spec.get("preemptionPolicy") == "Never",
            "terminating": pod["metadata"].get("deletionTimestamp"), "status resources": any("resources" in c for c in status.get("containerStatuses", [])),
            "hostNetwork without hostUsers": spec.get("hostNetwork") and spec.get("hostUsers") is False,
            "RestartAllContainers": any(r["action"] == "RestartAllContainers" for c in spec["containers"] for r in c.get("restartPolicyRules", [])),
            "no containers": not spec["containers"],
        }
        for what, there in marks.items():
            if there:
                self.see("pods", what)
        for volume in spec.get("volumes", []):
            for source in volume:
                if f"pod's {source}" in VOLUMES:
                    self.see("volumes", f"pod's {source}")
        for owner in pod["metadata"].get("ownerReferences", []):
            kind = f"owner {owner['kind']}"
            self.see("pods", kind if kind in PODS else "owner of another kind")

    # --- the report
    def report(self):
        lines, holes = ["", "coverage"], []
        for category, all_there_is in UNIVERSE.items():
            counts = self.counts[category]
            seen = [what for what in all_there_is if counts[what]]
            lines.append(f"\n{category}: {len(seen)} of {len(all_there_is)}")
            for what in all_there_is:
                lines.append(f"  {counts[what] or 'never':>9}  {what or '(none)'}")
                if not counts[what]:
                    holes.append(f"{category}: {what}")
            for what, count in sorted(counts.items()):
                if what not in all_there_is:
                    lines.append(f"  {count:>9}  {what} (not in the list)")
        lines.append("\nout of reach of a single decision:")
        lines += [f"  {text}" for text in OUT_OF_REACH]
        lines.append(f"\nnever seen: {len(holes)}")
        lines += [f"  {hole}" for hole in holes]
        return "\n".join(lines) + "\n"
