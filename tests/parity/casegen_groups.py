"""Topics with pod groups, judged by upstream's own scheduling cycles (oracle -groups). They lie over a small random
cluster of casegen.py: pending pods by themselves compete with the members of several groups.

entities       no groups: pending pods as they come out of the queue, each with what those before it have left
groups         basic and gang policies, as many members as it takes, fewer and more; members that shun or seek each
               other, that run already, are gated, or break the rules of a group; groups that are not there
grouptopology  the same, with topology constraints (gate TopologyAwareWorkloadScheduling)
grouppreempt   full nodes and more important groups: victims by themselves and in groups, of both disruption modes,
               with disruption budgets

Every running pod has started at another time: upstream draws among victims of one rank.
"""

import copy

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
API = "scheduling.k8s.io/v1beta1"
# Of a topic: nodes, placed pods, pending pods without a group.
SIZES = {"entities": (12, 60, 20), "groups": (8, 20, 6), "grouptopology": (10, 20, 4), "grouppreempt": (6, 40, 4)}
TOPICS = list(SIZES)
BELOW_ENTITIES = ["resources", "affinity", "spread", "ports", "preempt"]


def below(topic, seed):
    """The topic of casegen.py that lies below."""
    return {"entities": BELOW_ENTITIES[int(seed) % len(BELOW_ENTITIES)], "grouppreempt": "preempt"}.get(topic, topic)


def build(gen):
    running = [o for o in gen.items if o["kind"] == "Pod" and "nodeName" in o["spec"]]
    if gen.topic == "grouptopology":
        label_racks(gen)
    if gen.topic == "grouppreempt":
        fill_nodes(gen, running)
        group_running(gen, running)
    if gen.topic != "entities":
        drop_images(gen)
    for i in range(0 if gen.topic == "entities" else gen.R.randint(1, 5)):
        add_group(gen, f"g{i}")
    pods = [o for o in gen.items if o["kind"] == "Pod"]
    start_apart(gen, [p for p in pods if "nodeName" in p["spec"]])
    pending = [p for p in pods if "nodeName" not in p["spec"]]
    gen.R.shuffle(pending)
    gen.items[:] = [o for o in gen.items if o["kind"] != "Pod" or "nodeName" in o["spec"]] + pending


def start_apart(gen, running):
    minutes = gen.R.sample(range(24 * 60), len(running))
    for pod, minute in zip(running, minutes):
        pod["status"]["startTime"] = f"2026-01-01T{minute // 60:02d}:{minute % 60:02d}:00Z"


def drop_images(gen):
    """Upstream forgets on how many nodes an image is when it looks for victims of a group, and places it elsewhere."""
    for node in gen.items:
        if node["kind"] == "Node":
            node["status"].pop("images", None)


def label_racks(gen):
    for node in gen.items:
        if node["kind"] == "Node" and gen.p(.85):
            node["metadata"]["labels"]["rack"] = f"rack{gen.R.randint(1, 4)}"


# --- groups that wait ----------------------------------------------------------------------------------
def add_group(gen, name):
    R = gen.R
    namespace = R.choice(["default", "default", "prod"])
    size = R.choice([1, 2, 2, 3, 3, 4, 5, 6])
    spec = {"schedulingPolicy": policy(gen, size)}
    priority = R.choice([100, 1000, 2000] if gen.topic == "grouppreempt" else [0, 0, 10, 100])
    if priority or gen.p(.5):
        spec["priority"] = priority
    if gen.topic == "grouptopology" and gen.p(.7):
        spec["schedulingConstraints"] = {"topology": [{"key": R.choice(["rack", "rack", ZONE, ZONE, HOST, "nowhere"])}]}
    if gen.p(.5):
        spec["disruptionMode"] = R.choice([{"single": {}}, {"all": {}}])
    if gen.p(.93):
        gen.add(API, "PodGroup", name, namespace, spec=spec)
    shared = member_template(gen, name) if gen.p(.8) else None
    never = gen.topic == "grouppreempt" and gen.p(.1)
    for j in range(size):
        add_member(gen, copy.deepcopy(shared) if shared else member_template(gen, name), name, namespace, j, priority, never)


def policy(gen, size):
    if gen.p(.25):
        return {"basic": {}}
    return {"gang": {"minCount": gen.R.choice([size, size, size, size, max(1, size - 1), max(1, size // 2), 1, size + 1])}}


def member_template(gen, group):
    """A pending pod as the topic has them, that wants more of its node and sometimes minds its fellows."""
    R = gen.R
    gen.pod(0, False)
    pod = gen.items.pop()
    spec = pod["spec"]
    pod["metadata"]["labels"]["group"] = group
    pod["status"].pop("nominatedNodeName", None)
    spec.pop("preemptionPolicy", None)
    for key, chance in (("affinity", .7), ("nodeSelector", .6), ("topologySpreadConstraints", .6)):
        if gen.p(chance):
            spec.pop(key, None)
    if gen.p(.75):
        requests = spec["containers"][0]["resources"]["requests"]
        requests["cpu"] = R.choice(["500m", "1", "2", "3", "6"])
        requests["memory"] = R.choice(["512Mi", "1Gi", "4Gi"])
        requests.pop("nvidia.com/gpu", None)
    fellows = {"labelSelector": {"matchLabels": {"group": group}}}
    if gen.p(.2):
        spec.setdefault("affinity", {})["podAntiAffinity"] = {
            "requiredDuringSchedulingIgnoredDuringExecution": [{**fellows, "topologyKey": R.choice([HOST, HOST, ZONE])}]}
    elif gen.p(.15):
        spec.setdefault("affinity", {})["podAffinity"] = {
            "requiredDuringSchedulingIgnoredDuringExecution": [{**fellows, "topologyKey": R.choice([HOST, ZONE, "rack"])}]}
    if gen.p(.15):
        spec["topologySpreadConstraints"] = [{**fellows, "maxSkew": R.randint(1, 2), "topologyKey": R.choice([HOST, ZONE]),
                                              "whenUnsatisfiable": R.choice(["DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"])}]
    if gen.p(.1):
        spec["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 9000, "protocol": "TCP"}]
    return pod


def add_member(gen, pod, group, namespace, number, priority, never):
    R, spec = gen.R, pod["spec"]
    gen.uid += 1
    pod["metadata"].update(name=f"{group}-{number}", namespace=namespace, uid=f"pod-{gen.uid:06d}", resourceVersion=str(gen.uid))
    spec["schedulingGroup"] = {"podGroupName": group}
    spec["priority"] = priority
    if never:
        spec["preemptionPolicy"] = "Never"
    if gen.p(.08):  # it runs already
        spec["nodeName"] = f"node-{R.randrange(gen.nn):03d}"
        pod["status"] = {"phase": "Running"}
    elif gen.p(.04):
        spec["schedulingGates"] = [{"name": "wait"}]
    elif gen.p(.02):
        spec["priority"] = priority + 1
    elif gen.p(.02):
        spec["preemptionPolicy"] = "PreemptLowerPriority" if never else "Never"
    elif gen.p(.02):
        spec["schedulerName"] = "nobody"
    gen.items.append(pod)


# --- groups that run -----------------------------------------------------------------------------------
def fill_nodes(gen, running):
    """Running pods that take much of a node, of several priorities."""
    for pod in running:
        pod["spec"]["priority"] = gen.R.choice([0, 0, 10, 100, 500])
        if gen.p(.5):
            pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = gen.R.choice(["1", "2", "3"])


def group_running(gen, running):
    R = gen.R
    for i in range(R.randint(0, 4)):
        name, namespace = f"r{i}", R.choice(["default", "prod"])
        spec = {"schedulingPolicy": R.choice([{"basic": {}}, {"gang": {"minCount": R.randint(1, 3)}}])}
        if gen.p(.7):
            spec["disruptionMode"] = R.choice([{"single": {}}, {"all": {}}, {"all": {}}])
        priority = R.choice([0, 0, 10, 100, 500])
        if gen.p(.8):
            spec["priority"] = priority
        if gen.p(.93):
            gen.add(API, "PodGroup", name, namespace, spec=spec)
        mine = [p for p in running if p["metadata"]["namespace"] == namespace and "schedulingGroup" not in p["spec"]]
        for pod in R.sample(mine, min(len(mine), R.randint(1, 4))):
            pod["spec"]["schedulingGroup"] = {"podGroupName": name}
            pod["spec"]["priority"] = priority if gen.p(.85) else R.choice([0, 10, 100])
