"""What every plugin has against every node, asked alone: as upstream says it, and as berth does.

Everywhere `{node: {plugin: {"code": CODE, "reasons": [sorted]}}}`, without nodes and plugins that object to nothing.
"""
import compare

LEFT_OUT = "UnschedulableAndUnresolvable"
NOT_TOLD = {"code": "not told"}


def nodes_of(cluster):
    return [item["metadata"]["name"] for item in cluster["items"] if item["kind"] == "Node"]


def of_upstream(decision):
    """From the oracle's -objections."""
    return decision.get("objections", {})


def of_decision(decision, nodes):
    """From `berth evaluate --all-rejections`, which does not tell everything twice: NOT_TOLD may be there or not.

    The plugin at which the search stopped is told as such. Where several plugins narrowed the nodes it is not told
    which of them left out a node, and errors are only told when the search met them."""
    said = {}

    def note(node, plugin, verdict):
        said.setdefault(node, {})[plugin] = verdict

    pre_filter, narrowed, first = decision.get("preFilter", {}), decision.get("narrowed"), decision.get("rejected", {})
    if pre_filter.get("plugin"):
        for node in nodes:
            note(node, pre_filter["plugin"], only_verdict(pre_filter))
    for node in nodes:
        if narrowed and node not in narrowed["to"] and node not in first:
            for plugin in narrowed["by"]:
                alone = {"code": LEFT_OUT, "reasons": [f"node(s) didn't satisfy plugin(s) [{plugin}]"]}
                note(node, plugin, alone if len(narrowed["by"]) == 1 else NOT_TOLD)
    for node, verdict in first.items():
        note(node, verdict["plugin"], only_verdict(verdict))
    for node, verdicts in decision.get("alsoRejected", {}).items():
        for verdict in verdicts:
            note(node, verdict["plugin"], only_verdict(verdict))
    return said


def only_verdict(verdict):
    return {"code": verdict["code"], "reasons": verdict.get("reasons", [])}


def of_explanation(pod):
    """From `berth explain`: reasons may be there several times, with different obstacles."""
    said = {}
    for group in pod.get("rejections", []):
        for node in group["nodes"]:
            for obstacle in group["plugins"]:
                verdict = said.setdefault(node, {}).setdefault(obstacle["plugin"], {"code": obstacle.get("status"), "reasons": []})
                verdict["reasons"] = sorted({*verdict["reasons"], obstacle["reason"]})
    return said


def differences(theirs, ours, errors_told=True):
    """(node, plugin, theirs, ours) for everything that differs; None is a plugin that does not object."""
    for node in sorted({*theirs, *ours}):
        of_them, of_us = theirs.get(node, {}), ours.get(node, {})
        for plugin in sorted({*of_them, *of_us}):
            want, got = of_them.get(plugin), of_us.get(plugin)
            untold = got == NOT_TOLD or got is None and want["code"] == "Error" and not errors_told
            if not untold and not equal(want, got):
                yield node, plugin, want, got


def equal(want, got):
    """Upstream repeats a reason that applies twice."""
    if want is None or got is None:
        return want is got
    return got["code"] in (want["code"], None) and set(want.get("reasons", [])) == set(got.get("reasons", []))


def describe(pod, difference):
    node, plugin, theirs, ours = difference
    return "\n".join(
        f"  {line}"
        for line in (f"pod     {pod}", f"node    {node}", f"plugin  {plugin}", f"theirs  {compare.shown(theirs)}", f"ours    {compare.shown(ours)}")
    )
