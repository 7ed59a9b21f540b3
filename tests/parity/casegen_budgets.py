"""The topic budgets: pods that match several disruption budgets, some exhausted and some not, and pods that have
not started. It lies over the pods of the topic preempt.

Upstream takes a pod out of its budgets in the order of a Go map and stops at the first that does not allow it. So
which of the others lose one is drawn, more or less: most budgets over a pod are exhausted here, and then those that
are not keep theirs in most orders.
"""

NAMESPACES = ["default", "prod", "dev"]
APPS = ["web", "db", "cache", "batch", "ml"]
TIERS = ["front", "back", "mid"]


def exhausted_selector(R):
    """Over many pods, but not over those without a tier."""
    return R.choice([{"matchExpressions": [{"key": "tier", "operator": "Exists"}]},
                     {"matchExpressions": [{"key": "tier", "operator": "In", "values": R.sample(TIERS, 2)}]},
                     {"matchLabels": {"tier": R.choice(TIERS)}}])


def open_selector(R):
    """Over pods with a tier and without."""
    return R.choice([{"matchExpressions": [{"key": "app", "operator": "Exists"}]},
                     {"matchExpressions": [{"key": "app", "operator": "In", "values": R.sample(APPS, 3)}]},
                     {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": [R.choice(APPS)]}]}])


def budgets(gen):
    R = gen.R
    gen.items[:] = [o for o in gen.items if o["kind"] != "PodDisruptionBudget"]
    placed = [o for o in gen.items if o["kind"] == "Pod" and "nodeName" in o["spec"]]
    for pod in placed:
        pod["metadata"]["namespace"] = R.choice(["default", "default", "prod", "dev"])
        labels = pod["metadata"].setdefault("labels", {})
        labels["app"] = R.choice(APPS)
        labels.pop("tier", None)
        if gen.p(.4):
            labels["tier"] = R.choice(TIERS)
        if gen.p(.2):
            pod["status"].pop("startTime", None)
    for namespace in NAMESPACES:
        for k in range(R.randint(1, 6)):
            add_budget(gen, f"{R.choice('abcdef')}-exhausted-{k}", namespace, exhausted_selector(R), 0, placed)
        for k in range(R.choice([1, 1, 2])):
            add_budget(gen, f"{R.choice('abcdef')}-open-{k}", namespace, open_selector(R), R.randint(1, 4), placed)


def add_budget(gen, name, namespace, selector, allowed, placed):
    status = {"disruptionsAllowed": allowed, "currentHealthy": 3, "desiredHealthy": 2, "expectedPods": 3}
    if gen.p(.2):
        status["disruptedPods"] = {p["metadata"]["name"]: "2026-01-02T00:00:00Z" for p in gen.R.sample(placed, min(10, len(placed)))}
    gen.add("policy/v1", "PodDisruptionBudget", name, namespace, spec={"selector": selector}, status=status)
