"""Short ways to write the objects that the cases need."""


def node(name, cpu="4", memory="8Gi", pods="110", labels=None, taints=None, unschedulable=False):
    resources = {"cpu": cpu, "memory": memory, "pods": pods}
    spec = {}
    if taints:
        spec["taints"] = taints
    if unschedulable:
        spec["unschedulable"] = True
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/hostname": name, **(labels or {})},
        },
        "spec": spec,
        "status": {
            "capacity": resources,
            "allocatable": resources,
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
        },
    }


def pod(name, cpu="100m", memory=None, labels=None, grace=0, **spec):
    requests = {"cpu": cpu} if cpu else {}
    if memory:
        requests["memory"] = memory
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": labels or {}},
        "spec": {
            "terminationGracePeriodSeconds": grace,
            "containers": [
                {"name": "c", "image": "registry.k8s.io/pause:3.10", "resources": {"requests": requests}}
            ],
            **spec,
        },
    }


def taint(key, value="", effect="NoSchedule"):
    return {"key": key, "value": value, "effect": effect}


def priority_class(name, value, **more):
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
        **more,
    }


def budget(name, labels, **spec):
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": labels}, **spec},
    }


def node_affinity(key, *values, operator="In"):
    """Required node affinity on one label."""
    expression = {"key": key, "operator": operator}
    if values:
        expression["values"] = list(values)
    terms = [{"matchExpressions": [expression]}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def pod_term(labels, topology_key="kubernetes.io/hostname"):
    return {"labelSelector": {"matchLabels": labels}, "topologyKey": topology_key}


def pod_affinity(labels, topology_key, anti=False):
    """Required affinity to (or against) pods with these labels."""
    kind = "podAntiAffinity" if anti else "podAffinity"
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [pod_term(labels, topology_key)]}}


def spread(labels, topology_key, max_skew=1, when="DoNotSchedule", **more):
    return {
        "maxSkew": max_skew,
        "topologyKey": topology_key,
        "whenUnsatisfiable": when,
        "labelSelector": {"matchLabels": labels},
        **more,
    }
