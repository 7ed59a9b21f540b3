"""Answers about groups of pods (oracle -groups, berth evaluate --groups) in the form in which compare.py takes
decisions, the flags of the topics, and where berth differs from upstream knowingly.

An entity of the queue becomes a decision whose "pod" is "group NAMESPACE/NAME" or the pod's name; what no cycle has
touched becomes the last one, "left".
"""

import casegen_groups

CONFIGS = ["most-allocated", "weights", "spread-none", "affinity-args", "few-plugins", "capacity-ratio"]


def flags(topic, seed):
    made = ["--groups"]
    if topic == "grouptopology":
        made += ["--feature-gates", "TopologyAwareWorkloadScheduling=true"]
    if seed % 4 == 0:
        made += ["--config", f"configs/{CONFIGS[seed // 4 % len(CONFIGS)]}.yaml"]
    return made


def is_topic(topic):
    return topic in casegen_groups.TOPICS


def as_decisions(answer):
    decisions = []
    for entity in answer["entities"]:
        members = entity.get("members") or []
        decisions.append({
            "pod": f"group {entity['group']}" if entity.get("group") else entity["pod"],
            "order": [m["pod"] for m in members],
            "condition": entity.get("condition"),
            "members": {m["pod"]: {k: v for k, v in m.items() if k != "pod"} for m in members},
            "victims": entity.get("victims"),
        })
    return [*decisions, {"pod": "left", **answer.get("left", {})}]


# --- where berth differs knowingly (ARCHITECTURE.md has the list) ----------------------------------------
# What upstream says of a group none of whose members reached DynamicResources' PreFilter; berth says why it waits.
NOT_FOUND = 'error in "DynamicResources" PodGroupPostFilter plugins: not found'


def without_known_differences(theirs, ours):
    """Both answers without that in which berth differs from upstream knowingly; decisions of other kinds unchanged."""
    want, got, scheduled = [], [], set()
    for x, y in zip(theirs, ours):
        condition = x.get("condition") or {}
        if condition.get("message") == NOT_FOUND:
            want.append({k: x[k] for k in ("pod", "order")})
            got.append({k: y[k] for k in ("pod", "order") if k in y})
            if y.get("victims"):  # the places that are promised to this group count for all that follow
                return want, got
            continue
        if x["pod"] in scheduled and condition.get("status") == "False":
            # The cycle of those that were left over makes False of True, which berth never does.
            x = {**x, "condition": None}
        if condition.get("status") == "True":
            scheduled.add(x["pod"])
        want.append(x)
        got.append(y)
    return want + theirs[len(want):], got + ours[len(got):]
