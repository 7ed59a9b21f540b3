"""Topics that lie over a plain random cluster of casegen.py and change it in places.

owners    pods of Services, ReplicaSets, StatefulSets and ReplicationControllers without spread constraints
          of their own: what default constraints do
features  things that few pods use: declared features, comparing tolerations, status resources, node names
          that conflict, odd ports and addresses, namespace selectors, label keys
victims   whom preemption may take: budgets of many forms, pods that are going already, missing start times
edges     numbers and words that no API server would let pass, and some that it does
"""

ZONE, REGION, HOST = "topology.kubernetes.io/zone", "topology.kubernetes.io/region", "kubernetes.io/hostname"


def pods(gen):
    return [o for o in gen.items if o["kind"] == "Pod"]


def pending(gen):
    return [p for p in pods(gen) if "nodeName" not in p["spec"]]


def nodes(gen):
    return [o for o in gen.items if o["kind"] == "Node"]


# --- owners ------------------------------------------------------------------------------------------
OWNERS = [("apps/v1", "ReplicaSet"), ("apps/v1", "StatefulSet"), ("v1", "ReplicationController"), ("apps/v1", "DaemonSet"), ("batch/v1", "Job"),
          ("example.com/v1", "ReplicaSet")]


def owners(gen):
    R = gen.R
    there = []
    for k, (api, kind) in enumerate(OWNERS[:3]):
        for app in ("web", "db", "cache"):
            ns = R.choice(["default", "prod"])
            name = f"{kind.lower()}-{app}"
            labels = {"app": app}
            if gen.p(.4):
                labels["tier"] = R.choice(["front", "back"])
            if kind == "ReplicationController":
                spec = {"replicas": 1, "selector": labels}
            else:
                spec = {"replicas": 1, "selector": R.choice([{"matchLabels": labels}, {"matchExpressions": [{"key": "app", "operator": "In", "values": [app, "ml"]},
                        {"key": "tier", "operator": R.choice(["Exists", "DoesNotExist"])}]}, {}])}
            gen.add(api, kind, name, ns, spec=spec)
            there.append((api, kind, name, ns))
    for ns in ("default", "prod", "dev"):
        if gen.p(.5):
            gen.add("v1", "Service", "all-" + ns, ns, spec={"selector": R.choice([{}, {"tier": "front"}, {"app": "web", "tier": "back"}]), "ports": [{"port": 80}]})
    for pod in pods(gen):
        if gen.p(.8):
            pod["spec"].pop("topologySpreadConstraints", None)
        if not gen.p(.75):
            continue
        mine = [o for o in there if o[3] == pod["metadata"]["namespace"]]
        api, kind, name, _ = R.choice(mine) if mine and gen.p(.85) else (*R.choice(OWNERS), "gone", "")
        ref = {"apiVersion": api, "kind": kind, "name": name, "uid": "owner-" + name}
        if gen.p(.9):
            ref["controller"] = True
        pod["metadata"]["ownerReferences"] = [ref]


# --- features ----------------------------------------------------------------------------------------
DECLARED = ["ExtendWebSocketsToKubelet", "InPlacePodLevelResourcesVerticalScaling", "RestartAllContainersOnContainerExits", "SomethingElse", "UserNamespacesHostNetworkSupport"]


def features(gen):
    R = gen.R
    for node in nodes(gen):
        if gen.p(.7):
            names = [n for n in DECLARED if gen.p(.6)]
            if gen.p(.15):
                R.shuffle(names)
            node["status"]["declaredFeatures"] = names
        if gen.p(.5):
            node["spec"].setdefault("taints", []).append({"key": "load", "value": R.choice(["10", "50", "90", "-5", "0950", "abc", "950"]),
                                                          "effect": R.choice(["NoSchedule", "NoExecute", "PreferNoSchedule"])})
    for pod in pods(gen):
        feature_pod(gen, pod, "nodeName" in pod["spec"])


def feature_pod(gen, pod, bound):
    R, spec = gen.R, pod["spec"]
    if gen.p(.12):
        spec["hostNetwork"], spec["hostUsers"] = True, R.choice([False, False, True])
    if gen.p(.12):
        R.choice(spec["containers"])["restartPolicyRules"] = [{"action": R.choice(["RestartAllContainers", "RestartAllContainers", "Restart"]), "exitCodes": {"operator": "In", "values": [1]}}]
    if gen.p(.5):
        spec.setdefault("tolerations", []).append({"key": "load", "operator": R.choice(["Gt", "Lt", "Gt", "Lt", "Exists", "Equal"]), "value": R.choice(["50", "900", "10", "x"]),
                                                   "effect": R.choice(["", "NoSchedule", "PreferNoSchedule"])})
    if gen.p(.1):
        spec.setdefault("initContainers", []).append({"name": "side", "image": "img3", "restartPolicy": "Always", "resources": {},
                                                      "ports": [{"containerPort": 1, "hostPort": 80}, {"containerPort": 2, "hostPort": 8080, "hostIP": "::", "protocol": "SCTP"}]})
    if gen.p(.15):
        spec["containers"][0]["ports"] = [{"containerPort": 5, "hostPort": R.choice([80, 8080, 0]), "hostIP": R.choice(["", "::", "fd00::1", "127.0.0.2"]), "protocol": R.choice(["", "TCP", "SCTP"])}]
    if gen.p(.1):
        spec["containers"][0]["image"] = R.choice(["", "host:5000/img", "registry.example.com/img2", "img3@sha256:00"])
    if bound and gen.p(.2):
        status_resources(gen, pod)
    if not bound:
        if gen.p(.12):
            a, b = (f"node-{R.randrange(gen.nn):03d}" for _ in range(2))
            fields = R.choice([[{"key": "metadata.name", "operator": "In", "values": [a]}, {"key": "metadata.name", "operator": "In", "values": [b]}],
                               [{"key": "metadata.name", "operator": "In", "values": [a]}], [{"key": "metadata.name", "operator": "NotIn", "values": [a]}],
                               [{"key": "metadata.name", "operator": "In", "values": ["nowhere"]}]])
            terms = [{"matchFields": fields}] + ([{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [b]}]}] if gen.p(.3) else [])
            spec.setdefault("affinity", {}).setdefault("nodeAffinity", {})["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}
        if gen.p(.05):
            pod["status"]["nominatedNodeName"] = f"node-{R.randrange(gen.nn):03d}"
        if gen.p(.05):
            spec["schedulingGates"] = [{"name": "example.com/wait"}]
    if gen.p(.2):
        term = {"topologyKey": R.choice([ZONE, HOST, "rack"]), "labelSelector": {"matchLabels": {"app": R.choice(["web", "db"])}}}
        term["namespaceSelector"] = {"matchExpressions": [R.choice([{"key": "env", "operator": "NotIn", "values": ["prod"]}, {"key": "env", "operator": "DoesNotExist"},
                                                                    {"key": "team", "operator": "In", "values": ["b"]}])]}
        if gen.p(.4):
            term["matchLabelKeys"], term["mismatchLabelKeys"] = ["pod-template-hash"], ["tier"]
        kind = R.choice(["podAffinity", "podAntiAffinity"])
        if gen.p(.5):
            spec.setdefault("affinity", {}).setdefault(kind, {})["requiredDuringSchedulingIgnoredDuringExecution"] = [term]
        else:
            spec.setdefault("affinity", {}).setdefault(kind, {})["preferredDuringSchedulingIgnoredDuringExecution"] = [{"weight": R.randint(1, 100), "podAffinityTerm": term}]


def status_resources(gen, pod):
    R, spec, status = gen.R, pod["spec"], pod["status"]
    status["containerStatuses"] = []
    for c in spec["containers"]:
        entry = {"name": c["name"], "image": c["image"], "imageID": "", "ready": True, "restartCount": 0}
        if gen.p(.7):
            entry["resources"] = {"requests": {"cpu": R.choice(["100m", "2", "3"]), "memory": R.choice(["1Gi", "3Gi"])}}
        if gen.p(.5):
            entry["allocatedResources"] = {"cpu": R.choice(["1", "50m"]), "memory": "512Mi"}
        status["containerStatuses"].append(entry)
    if gen.p(.3):
        status["conditions"] = [{"type": "PodResizePending", "status": "True", "reason": R.choice(["Infeasible", "Deferred"])}]


# --- victims -----------------------------------------------------------------------------------------
def victims(gen):
    R = gen.R
    everyone = pods(gen)
    for k in range(R.randint(1, 4)):
        selector = R.choice([{"matchLabels": {"app": R.choice(["db", "web", "ml"])}}, {"matchExpressions": [{"key": "tier", "operator": "In", "values": ["front", "mid"]}]}, {}, None,
                             {"matchExpressions": [{"key": "tier", "operator": "Exists"}]}])
        status = {"disruptionsAllowed": R.choice([0, 0, 1, 2]), "currentHealthy": 3, "desiredHealthy": 2, "expectedPods": 3}
        if gen.p(.3):
            status["disruptedPods"] = {p["metadata"]["name"]: "2026-01-02T00:00:00Z" for p in R.sample(everyone, 20)}
        gen.add("policy/v1", "PodDisruptionBudget", f"budget-{k}", R.choice(["default", "prod", "dev"]), spec={} if selector is None else {"selector": selector}, status=status)
    for pod in everyone:
        if "nodeName" in pod["spec"]:
            if gen.p(.1):
                pod["status"].pop("startTime", None)
            if gen.p(.1):
                pod["metadata"].update({"deletionTimestamp": "2026-01-02T00:00:00Z", "deletionGracePeriodSeconds": 30})
                if gen.p(.7):
                    pod["status"]["conditions"] = [{"type": "DisruptionTarget", "status": R.choice(["True", "True", "False"]), "reason": R.choice(["PreemptionByScheduler", "PreemptionByScheduler", "EvictionByEvictionAPI"])}]
            if gen.p(.05):
                pod["metadata"].pop("labels", None)
            if gen.p(.1):
                pod["spec"]["priority"] = R.choice([-10, 2000000000, 1000])
        else:
            pod["status"].pop("nominatedNodeName", None)
            if gen.p(.35):
                pod["status"]["nominatedNodeName"] = f"node-{R.randrange(gen.nn):03d}"


# --- edges -------------------------------------------------------------------------------------------
HUGE = ["9223372036854775807", "9223372036854775806", "8Ei", "7Ei", "1e18", "9e18", "4611686018427387904", "1e-9", "0.0001", "999999999999999999m", "-1", "-5Gi", "0"]


def edges(gen):
    for node in nodes(gen):
        edge_node(gen, node)
    for pod in pods(gen):
        edge_pod(gen, pod, "nodeName" in pod["spec"])
        drop_empty_lists(pod["spec"])


def drop_empty_lists(value):
    """An API server does not return them, but for those that must be there."""
    if isinstance(value, dict):
        for key in [k for k, v in value.items() if v == [] and k not in ("containers", "nodeSelectorTerms")]:
            del value[key]
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
        drop_empty_lists(inner)


def edge_node(gen, node):
    R, alloc = gen.R, node["status"]["allocatable"]
    for name in ("cpu", "memory", "ephemeral-storage", "example.com/foo"):
        if gen.p(.2):
            alloc[name] = R.choice(HUGE)
    if gen.p(.1):
        alloc.pop(R.choice(list(alloc)))
    if gen.p(.04):
        node["status"]["allocatable"] = {}
    if gen.p(.04):
        node["status"] = {}
    if gen.p(.05):
        alloc["pods"] = R.choice(["0", "-3", "9223372036854775807", "1500m"])
    if gen.p(.08):
        node["metadata"].pop("labels", None)
    elif gen.p(.3):
        node["metadata"]["labels"].update({R.choice([ZONE, "gen", "rack", "disk"]): R.choice(["", "ü", "a b", "9223372036854775808", "-7", "007", "\u0000x"])})
    if gen.p(.2):
        node["spec"].setdefault("taints", []).append({"key": R.choice(["", "odd"]), "value": R.choice(["", "ü"]), "effect": R.choice(["", "Unheard", "NoSchedule", "PreferNoSchedule"])})
    if gen.p(.1):
        node["status"]["images"] = [{"names": R.choice([[], None, ["img3"], ["img3:latest", "img3:latest"], [""]]), "sizeBytes": R.choice([-1, 0, 9223372036854775807])}]


def edge_selector(gen):
    R = gen.R
    return R.choice([{"matchExpressions": [{"key": "app", "operator": R.choice(["Like", "", "in", "Gt", "Lt"]), "values": ["web"]}]},
                     {"matchExpressions": [{"key": "app", "operator": "In", "values": []}]}, {"matchExpressions": [{"key": "app", "operator": "Exists", "values": ["x"]}]},
                     {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web", "web", ""]}, {"key": "nothere", "operator": "NotIn", "values": ["x"]}]},
                     {"matchLabels": {"app": "not a label!"}}, {"matchLabels": {"bad key!": "x"}}, {"matchLabels": {"": "x"}}, {"matchLabels": {"app": ""}}, {}])


def edge_node_term(gen):
    R = gen.R
    return R.choice([{"matchExpressions": [{"key": "gen", "operator": R.choice(["Gt", "Lt"]), "values": R.choice([["x"], [], ["1", "2"], ["9223372036854775807"], ["-1"], ["+3"], ["003"]])}]},
                     {"matchExpressions": [{"key": "disk", "operator": R.choice(["Like", "", "in"]), "values": ["ssd"]}]}, {"matchExpressions": []}, {},
                     {"matchExpressions": [{"key": "bad key!", "operator": "In", "values": ["x"]}]}, {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["not a label!"]}]},
                     {"matchFields": [{"key": "metadata.name", "operator": "In", "values": R.choice([[], ["node-001", "node-002"], [""]])}]},
                     {"matchFields": [{"key": "metadata.namespace", "operator": "In", "values": ["x"]}]}, {"matchFields": [{"key": "metadata.name", "operator": "Exists"}]},
                     {"matchExpressions": [{"key": "disk", "operator": R.choice(["Exists", "DoesNotExist"]), "values": ["x"]}]}])


def edge_pod(gen, pod, bound):
    R, spec = gen.R, pod["spec"]
    for c in spec["containers"]:
        for name in ("cpu", "memory", "ephemeral-storage", "example.com/foo", "kubernetes.io/odd", "requests.example.com/x"):
            if gen.p(.04 if bound else .08):
                c["resources"].setdefault("requests", {})[name] = R.choice(HUGE)
    if gen.p(.02):
        spec["containers"] = []
    if gen.p(.05):
        spec["overhead"] = {"cpu": R.choice(HUGE), "example.com/bar": "1"}
    if gen.p(.05):
        spec["priority"] = R.choice([2147483647, -2147483648])
    if gen.p(.15):
        pod["metadata"]["labels"].update({R.choice(["app", "tier", "", "x/y/z"]): R.choice(["", "ü", "a b", "\u0000", "web"])})
    if gen.p(.12):
        spec.setdefault("tolerations", []).append({"key": R.choice(["", "odd", "dedicated"]), "operator": R.choice(["", "Like", "Exists", "Equal", "Gt"]), "value": R.choice(["", "ü", "gpu"]),
                                                   "effect": R.choice(["", "Unheard", "NoSchedule", "PreferNoSchedule"])})
    if gen.p(.1):
        spec["containers"] and spec["containers"][0].update(ports=[{"containerPort": 1, "hostPort": R.choice([-1, 0, 70000, 80]), "protocol": R.choice(["", "tcp", "TCP"]), "hostIP": R.choice(["", "x"])}])
    if gen.p(.12):
        na = spec.setdefault("affinity", {}).setdefault("nodeAffinity", {})
        if gen.p(.6):
            na["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": [edge_node_term(gen) for _ in range(R.randint(0, 3))]}
        elif not bound:
            na["preferredDuringSchedulingIgnoredDuringExecution"] = [{"weight": R.choice([0, -4, 101, 2147483647, 3]), "preference": edge_node_term(gen)} for _ in range(R.randint(1, 2))]
    if gen.p(.04):
        spec["nodeSelector"] = R.choice([{"": ""}, {"disk": ""}, {"bad key!": "x"}])
    if gen.p(.1):
        kind, how = R.choice(["podAffinity", "podAntiAffinity"]), R.choice(["required", "preferred"])
        term = {"topologyKey": R.choice([ZONE, HOST, "", "rack"]), "labelSelector": edge_selector(gen)}
        if gen.p(.3):
            term["namespaceSelector"] = edge_selector(gen)
        if gen.p(.2):
            term["namespaces"] = R.choice([[], [""], ["nowhere"]])
        spec.setdefault("affinity", {}).setdefault(kind, {})[how + "DuringSchedulingIgnoredDuringExecution"] = [term if how == "required" else {"weight": R.choice([0, -3, 2147483647, 50]), "podAffinityTerm": term}]
    if gen.p(.1):
        spec["topologySpreadConstraints"] = [{"maxSkew": R.choice([0, -1, 1, 2147483647]), "topologyKey": R.choice([ZONE, HOST, "", "rack"]), "whenUnsatisfiable": R.choice(["DoNotSchedule", "ScheduleAnyway", "Perhaps"]),
                                              **({"labelSelector": edge_selector(gen)} if gen.p(.9) else {}), **({"minDomains": R.choice([0, -2, 2147483647])} if gen.p(.3) else {}),
                                              **({"matchLabelKeys": R.choice([["app"], ["nothere"], [""]])} if gen.p(.3) else {})} for _ in range(R.choice([1, 1, 2, 40]))]


TOPICS = {"owners": owners, "features": features, "victims": victims, "edges": edges}
