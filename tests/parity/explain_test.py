#!/usr/bin/env python3
"""Tests of explain.py, objections.py, suggestions.py and json_patch.py, without the oracle."""

import copy
import unittest

import explain
import json_patch
import objections
import suggestions

NODES = ["n1", "n2", "n3"]


def verdict(code, *reasons):
    return {"code": code, "reasons": list(reasons)}


def by(plugin, code, *reasons):
    return {**verdict(code, *reasons), "plugin": plugin}


TAINT = "UnschedulableAndUnresolvable", "node(s) had untolerated taint(s)"
CPU = "Unschedulable", "Insufficient cpu"


class PatchTest(unittest.TestCase):
    def patched(self, document, *operations):
        before = copy.deepcopy(document)
        try:
            after = json_patch.apply(document, operations)
        except json_patch.PatchError:
            after = "refused"
        self.assertEqual(document, before)
        return after

    def test_operations(self):
        for document, operation, after in (
            ({"a": 1}, {"op": "add", "path": "/b", "value": [1]}, {"a": 1, "b": [1]}),
            ({"a": 1}, {"op": "add", "path": "/a", "value": None}, {"a": None}),
            ({"a": [1, 3]}, {"op": "add", "path": "/a/1", "value": 2}, {"a": [1, 2, 3]}),
            ({"a": [1]}, {"op": "add", "path": "/a/-", "value": 2}, {"a": [1, 2]}),
            ({"a": [1]}, {"op": "add", "path": "/a/2", "value": 2}, "refused"),
            ({"a": 1}, {"op": "add", "path": "/b/c", "value": 2}, "refused"),
            ({"a": 1}, {"op": "add", "path": "/b"}, "refused"),
            ({"a": 1}, {"op": "add", "path": "", "value": 2}, 2),
            ({"a": [1, 2]}, {"op": "remove", "path": "/a/0"}, {"a": [2]}),
            ({"a": [1, 2]}, {"op": "remove", "path": "/a/-"}, "refused"),
            ({"a": [1, 2]}, {"op": "remove", "path": "/a/01"}, "refused"),
            ({"a": 1}, {"op": "remove", "path": "/b"}, "refused"),
            ({"a": [1, 2]}, {"op": "replace", "path": "/a/1", "value": 3}, {"a": [1, 3]}),
            ({"a": 1}, {"op": "replace", "path": "/b", "value": 3}, "refused"),
            ({"a": 1}, {"op": "move", "from": "/a", "path": "/b"}, {"b": 1}),
            ({"a": {"b": 1}}, {"op": "move", "from": "/a", "path": "/a/b"}, "refused"),
            ({"a": {"b": 1}}, {"op": "copy", "from": "/a", "path": "/c"}, {"a": {"b": 1}, "c": {"b": 1}}),
            ({"a": 1}, {"op": "test", "path": "/a", "value": 1.0}, {"a": 1}),
            ({"a": 1}, {"op": "test", "path": "/a", "value": True}, "refused"),
            ({"a": {"b": [1]}}, {"op": "test", "path": "/a", "value": {"b": [1]}}, {"a": {"b": [1]}}),
            ({"a": 1}, {"op": "set", "path": "/a", "value": 1}, "refused"),
            ({"a": 1}, {"op": "remove", "path": "a"}, "refused"),
        ):
            with self.subTest(operation):
                self.assertEqual(self.patched(document, operation), after)

    def test_pointers_have_escapes(self):
        labels = {"example.com/team": "red", "a~1b": "x"}
        self.assertEqual(json_patch.find(labels, "/example.com~1team"), "red")
        self.assertEqual(json_patch.find(labels, "/a~01b"), "x")
        self.assertEqual(json_patch.find({"": 1}, "/"), 1)

    def test_operations_follow_one_another(self):
        operations = [{"op": "remove", "path": "/a/0"}, {"op": "test", "path": "/a/0", "value": 2}, {"op": "add", "path": "/a/0", "value": 9}]
        self.assertEqual(self.patched({"a": [1, 2]}, *operations), {"a": [9, 2]})
        self.assertEqual(self.patched({"a": [1]}, *operations), "refused")


class ObjectionTest(unittest.TestCase):
    theirs = {"n1": {"TaintToleration": verdict(*TAINT), "NodeResourcesFit": verdict(*CPU)}, "n2": {"NodeResourcesFit": verdict(*CPU)}}
    decision = {
        "rejected": {"n1": by("TaintToleration", *TAINT), "n2": by("NodeResourcesFit", *CPU)},
        "alsoRejected": {"n1": [by("NodeResourcesFit", *CPU)]},
    }

    def found(self, decision, theirs=None, **told):
        return list(objections.differences(theirs or self.theirs, objections.of_decision(decision, NODES), **told))

    def test_the_first_and_the_other_rejections_are_upstreams(self):
        self.assertEqual(self.found(self.decision), [])

    def test_a_planted_difference_is_found(self):
        def lacks_other(d):
            del d["alsoRejected"]

        def lacks_node(d):
            del d["rejected"]["n2"]

        def has_more(d):
            d["alsoRejected"]["n3"] = [by("NodePorts", *CPU)]

        def other_code(d):
            d["rejected"]["n2"]["code"] = TAINT[0]

        def other_reason(d):
            d["rejected"]["n2"]["reasons"] = ["Insufficient memory"]

        def more_reasons(d):
            d["rejected"]["n2"]["reasons"].append("Insufficient memory")

        for plant, where in (
            (lacks_other, ("n1", "NodeResourcesFit")),
            (lacks_node, ("n2", "NodeResourcesFit")),
            (has_more, ("n3", "NodePorts")),
            (other_code, ("n2", "NodeResourcesFit")),
            (other_reason, ("n2", "NodeResourcesFit")),
            (more_reasons, ("n2", "NodeResourcesFit")),
        ):
            with self.subTest(plant.__name__):
                decision = copy.deepcopy(self.decision)
                plant(decision)
                self.assertEqual([d[:2] for d in self.found(decision)], [where])

    def test_a_pre_filter_rejection_counts_on_every_node(self):
        decision = {"preFilter": by("VolumeBinding", *TAINT), "alsoRejected": {"n1": [by("NodeResourcesFit", *CPU)]}}
        theirs = {node: {"VolumeBinding": verdict(*TAINT)} for node in NODES}
        self.assertEqual([d[:2] for d in self.found(decision, theirs)], [("n1", "NodeResourcesFit")])

    def test_nodes_left_out_count_for_the_plugin_that_left_them_out(self):
        def left_out(plugin):
            return {plugin: verdict("UnschedulableAndUnresolvable", f"node(s) didn't satisfy plugin(s) [{plugin}]")}

        decision = {"narrowed": {"by": ["NodeAffinity"], "to": ["n1"]}, "rejected": {"n1": by("TaintToleration", *TAINT)}}
        theirs = {"n1": {"TaintToleration": verdict(*TAINT)}, "n2": left_out("NodeAffinity"), "n3": left_out("NodeAffinity")}
        self.assertEqual(self.found(decision, theirs), [])
        self.assertEqual([d[:2] for d in self.found(decision, {**theirs, "n1": {}})], [("n1", "TaintToleration")])
        # Of two that narrow, the decision does not tell which left out a node.
        decision["narrowed"]["by"].append("VolumeBinding")
        self.assertEqual(self.found(decision, {**theirs, "n3": left_out("VolumeBinding")}), [])

    def test_errors_are_compared_where_they_are_told(self):
        theirs = {**self.theirs, "n3": {"DynamicResources": verdict("Error", "boom")}}
        self.assertEqual(self.found(self.decision, theirs, errors_told=False), [])
        self.assertEqual([d[:2] for d in self.found(self.decision, theirs)], [("n3", "DynamicResources")])
        wrong = {**self.decision, "alsoRejected": {**self.decision["alsoRejected"], "n3": [by("DynamicResources", *CPU)]}}
        self.assertEqual([d[:2] for d in self.found(wrong, theirs, errors_told=False)], [("n3", "DynamicResources")])

    def test_pods_that_are_not_the_same_differ(self):
        different = explain.differing_pods({"items": []}, [{"pod": "a"}], [{"pod": "b"}], "evaluate")
        self.assertEqual(list(different), ["(all)"])


def pod(name, cpu, node=None):
    spec = {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}}]} | ({"nodeName": node} if node else {})
    return {"kind": "Pod", "metadata": {"namespace": "default", "name": name}, "spec": spec}


CLUSTER = {"kind": "List", "items": [{"kind": "Node", "metadata": {"name": "n1"}, "spec": {"taints": [{"key": "a"}]}}, pod("old", "1", "n1"), pod("new", "3")]}
CPU_PATH = "/spec/containers/0/resources/requests/cpu"
LESS_CPU = {"op": "patch", "kind": "Pod", "namespace": "default", "name": "new", "patch": [{"op": "replace", "path": CPU_PATH, "value": "1750m"}]}
NO_TAINT = {"op": "patch", "kind": "Node", "name": "n1", "patch": [{"op": "remove", "path": "/spec/taints/0"}]}
WITHOUT_OLD = {"op": "delete", "kind": "Pod", "namespace": "default", "name": "old"}
NODE_MORE = {"op": "create", "object": {"kind": "Node", "metadata": {"name": "n9"}}}


def variants(*changes, **more):
    return list(suggestions.variants(CLUSTER, "default/new", {"nodes": ["n1"], "changes": list(changes), **more}))


class SuggestionTest(unittest.TestCase):
    def test_each_change_is_made_and_left_out(self):
        before = copy.deepcopy(CLUSTER)
        names = [[item["metadata"]["name"] for item in v.cluster["items"]] for v in variants(WITHOUT_OLD, NODE_MORE, NO_TAINT)]
        self.assertEqual(names, [["n1", "new", "n9"], ["n1", "old", "new", "n9"], ["n1", "new"], ["n1", "new", "n9"]])
        taints = [v.cluster["items"][0]["spec"]["taints"] for v in variants(WITHOUT_OLD, NODE_MORE, NO_TAINT)]
        self.assertEqual(taints, [[], [], [], [{"key": "a"}]])
        self.assertEqual([v.helps for v in variants(WITHOUT_OLD, NODE_MORE)], [True, False, False])
        self.assertEqual(CLUSTER, before)

    def test_one_unit_more_of_a_lowered_amount_is_asked_about(self):
        asked = variants(LESS_CPU)
        self.assertEqual([json_patch.find(v.cluster["items"][2], CPU_PATH) for v in asked], ["1750m", "3", "1751m"])
        self.assertEqual([v.helps for v in asked], [True, False, False])
        gone = {**LESS_CPU, "patch": [{"op": "remove", "path": CPU_PATH.removesuffix("/cpu")}]}
        requests = [v.cluster["items"][2]["spec"]["containers"][0]["resources"].get("requests") for v in variants(gone)]
        self.assertEqual(requests, [None, {"cpu": "3", "memory": "1Gi"}, {"cpu": "1m"}, {"memory": "1"}])

    def test_quantities(self):
        for text, value in (("3", 3), ("1750m", 1.75), ("2Ki", 2048), ("1.5", 1.5), ("1e3", 1000), ("2E", 2e18), (".5", 0.5)):
            self.assertEqual(suggestions.amount(text), value)
        for text in ("", "abc", "1x", "1..", True, None, {}):
            self.assertIsNone(suggestions.amount(text))
        self.assertEqual(suggestions.one_more("cpu", suggestions.amount("1750100n")), "3m")
        self.assertEqual(suggestions.one_more("memory", suggestions.amount("1Gi")), "1073741825")

    def test_changes_that_cannot_be_made_are_told(self):
        for change in ({**WITHOUT_OLD, "name": "older"}, {**NODE_MORE, "object": CLUSTER["items"][0]}, {**NO_TAINT, "op": "label"}):
            with self.assertRaises(suggestions.NotApplicable):
                variants(change)
        with self.assertRaises(json_patch.PatchError):
            variants({**NO_TAINT, "patch": [{"op": "remove", "path": "/spec/taints/1"}]})
        with self.assertRaises(suggestions.NotApplicable):
            variants()

    def test_what_upstream_must_say(self):
        fits, fails = {"totals": {"n1": 5, "n2": 7}}, {"message": "0/2 nodes are available"}
        preempts, elsewhere = {"preempt": {"node": "n1", "victims": ["a"]}}, {"preempt": {"node": "n2"}}
        whole, part = variants(WITHOUT_OLD, NO_TAINT)[:2]
        self.assertIsNone(suggestions.wrong(whole, fits))
        self.assertIsNone(suggestions.wrong(part, fails))
        self.assertIsNone(suggestions.wrong(part, preempts))
        for variant, decision in ((whole, fails), (whole, preempts), (whole, {"totals": {"n2": 5}}), (whole, {"error": "x"}), (part, fits)):
            self.assertIsNotNone(suggestions.wrong(variant, decision))
        whole, part = variants(WITHOUT_OLD, NO_TAINT, victims=["default/old"])[:2]
        self.assertIsNone(suggestions.wrong(whole, preempts))
        self.assertIsNone(suggestions.wrong(part, fails))
        for variant, decision in ((whole, fails), (whole, elsewhere), (part, preempts), (part, fits)):
            self.assertIsNotNone(suggestions.wrong(variant, decision))


class FakeChecker(explain.Checker):
    """An oracle that finds a node when its function says so."""

    def __init__(self, fits):
        self.explains, self.fits = True, fits

    def answers(self, variants, flags):
        return [{"pod": v.pod, **({"totals": {"n1": 1}} if self.fits(v.cluster) else {"message": "0/1"})} for v in variants]

    def found(self, *changes):
        result = dict.fromkeys(explain.COUNTS, 0) | {"found": [], "again": 0}
        explained = [{"pod": "default/new", "suggestions": [{"nodes": ["n1"], "changes": list(changes)}]}]
        self.check_suggestions(CLUSTER, explained, [], result)
        return result["found"]


class CheckTest(unittest.TestCase):
    @staticmethod
    def cpu(cluster):
        return suggestions.amount(json_patch.find(next(i for i in cluster["items"] if i["metadata"]["name"] == "new"), CPU_PATH))

    def test_a_minimal_suggestion_passes(self):
        self.assertEqual(FakeChecker(lambda c: self.cpu(c) <= 1.75).found(LESS_CPU), [])

    def test_a_suggestion_that_gives_up_too_much_is_found(self):
        self.assertIn("with 1751m of cpu", FakeChecker(lambda c: self.cpu(c) <= 2).found(LESS_CPU)[0])

    def test_a_suggestion_that_does_not_help_is_found(self):
        self.assertIn("as suggested: it does not fit on n1", FakeChecker(lambda c: self.cpu(c) <= 1).found(LESS_CPU)[0])

    def test_a_needless_change_is_found(self):
        self.assertIn("without change 2", FakeChecker(lambda c: self.cpu(c) <= 1.75).found(LESS_CPU, NO_TAINT)[0])

    def test_a_change_for_a_pod_that_fits_is_found(self):
        self.assertIn("without any change", FakeChecker(lambda c: True).found(NO_TAINT)[0])

    def test_a_change_of_nothing_is_found(self):
        self.assertIn("cannot be carried out", FakeChecker(lambda c: True).found({**WITHOUT_OLD, "name": "older"})[0])


if __name__ == "__main__":
    unittest.main()
