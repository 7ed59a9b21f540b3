"""PodTopologySpread: constraints and their selectors."""
from cluster import HOST, ZONE, Case, fill, nodes, obj, pod, refused


def constraint(key, action, labels, **more):
    return {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": action,
            "labelSelector": {"matchLabels": labels}, **more}


def cases(scale):
    placed = [pod(f"placed{i}", f"n{i % scale.nodes}") for i in range(min(scale.pods, 2 * scale.nodes))]
    cluster = nodes(scale.nodes) + placed

    def one(name, make, **budget):
        return Case(name, cluster + [pod("p0", topologySpreadConstraints=fill(scale.object_bytes, make))], **budget)

    # Several for one key and action are refused.
    def same_key(name, make, **budget):
        case = one(name, make, **budget)
        refused(case.objects[-1])
        return case

    for action in ("DoNotSchedule", "ScheduleAnyway"):
        yield one(f"{action} on keys that no node has", lambda i, action=action: constraint(f"k{i}", action, {"app": "web"}))
        # Counts are kept for each constraint, up to 64 MB.
        yield same_key(f"{action} by zone, labels that no pod has",
                  lambda i, action=action: constraint(ZONE, action, {"app": f"none{i}"}), memory_times=7.5)
        yield same_key(f"{action} by host, labels that no pod has",
                  lambda i, action=action: constraint(HOST, action, {"app": f"none{i}"}), memory_times=7.5)
    yield same_key("keys of labels that the pod lacks",
              lambda i: constraint(ZONE, "ScheduleAnyway", {"app": "web"}, matchLabelKeys=[f"k{i}"]), memory_times=7.5)
    # The default constraints select by services and owners of the pod.
    yield Case("services of one namespace, with selectors of many labels",
               cluster + [obj("v1", "Service", f"s{i}", "default",
                              spec={"ports": [{"port": 80}], "selector": {"app": "web", **{f"k{j}": "v" for j in range(40)}}})
                          for i in range(scale.object_bytes // 1024)] + [pod("p0")], twin=cluster + [pod("p0")])
