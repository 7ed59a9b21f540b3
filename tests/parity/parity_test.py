#!/usr/bin/env python3
"""Tests of parity.py and compare.py: which differences from upstream's answers are draws of upstream's."""

import itertools
import tempfile
import unittest

import compare
import groups
import parity

ERRORS = [f'running "DynamicResources" filter plugin: claim a/b: device gpu-{i}: no such key: x, y' for i in range(3)]


def preempting(node, pod="default/a"):
    return {"pod": pod, "message": f"no node, preemption takes {node}", "preempt": {"node": node}}


def failing(errors):
    message = f"preemption: [{', '.join(errors)}]"
    return {"pod": "default/a", "message": f"0/3 nodes are available. {message}", "preempt": {"message": message}}


class FakeRunner(parity.Runner):
    """Answers of the oracle come one after the other from a list, and then from its beginning again."""

    def __init__(self, folder, theirs, ours):
        super().__init__("berth", "oracle", folder)
        self.theirs, self.ours, self.asked = itertools.cycle(theirs), ours, 0

    def call(self, command, result=None):
        if command[0] == "berth":
            return self.ours
        self.asked += 1
        return next(self.theirs)


class DrawTest(unittest.TestCase):
    def judge(self, theirs, ours, topic="basic"):
        with tempfile.TemporaryDirectory() as folder:
            runner = FakeRunner(folder, theirs, ours)
            result = runner.run(topic, 1)
        verdict = next((k for k in ("different", "drawn", "upstream_failed") if k in result), "equal")
        return verdict, runner.asked

    def test_equal_answers_are_not_asked_for_again(self):
        self.assertEqual(self.judge([[preempting("n1")]], [preempting("n1")]), ("equal", 1))

    def test_a_rare_draw_is_found_while_upstream_varies(self):
        theirs = [[preempting("n1")], [preempting("n2")]] * 10 + [[preempting("n3")]]
        self.assertEqual(self.judge(theirs, [preempting("n3")]), ("drawn", 21))

    def test_pods_may_be_drawn_at_different_times(self):
        theirs = [[preempting("n1"), preempting("n1", "b")], [preempting("n2"), preempting("n2", "b")]]
        self.assertEqual(self.judge(theirs, [preempting("n1"), preempting("n2", "b")])[0], "drawn")

    def test_an_answer_that_upstream_never_gives_differs(self):
        self.assertEqual(self.judge([[preempting("n1")], [preempting("n2")]], [preempting("n3")]), ("different", 129))

    def test_upstream_that_never_varies_is_asked_eight_times_more(self):
        self.assertEqual(self.judge([[preempting("n1")]], [preempting("n2")]), ("different", 9))

    def test_scores_are_drawn_only_where_there_are_volumes_or_devices(self):
        theirs = [[{"pod": "a", "totals": {"n1": n}}] for n in range(20)]
        self.assertEqual(self.judge(theirs, [{"pod": "a", "totals": {"n1": 19}}], "storage"), ("drawn", 20))
        self.assertEqual(self.judge(theirs, [{"pod": "a", "totals": {"n1": 19}}]), ("different", 1))

    def test_scores_of_a_sequence_must_as_a_whole_be_one_answer(self):
        def scores(a, b):
            return [{"pod": "a", "totals": {"n1": a}}, {"pod": "b", "totals": {"n1": b}}]

        self.assertEqual(self.judge([scores(1, 1), scores(2, 2)], scores(1, 2), "storage")[0], "different")

    def test_upstream_that_fails_sometimes_is_asked_again(self):
        self.assertEqual(self.judge(["panic", [preempting("n1")]], [preempting("n1")]), ("equal", 2))
        self.assertEqual(self.judge([[preempting("n1")], "panic", [preempting("n2")]], [preempting("n2")]), ("drawn", 3))
        self.assertEqual(self.judge(["panic"], [preempting("n1")]), ("upstream_failed", 9))

    def test_upstream_that_does_not_end_is_not_asked_again(self):
        self.assertEqual(self.judge([parity.TIMED_OUT], [preempting("n1")]), ("upstream_failed", 1))


class ErrorOrderTest(unittest.TestCase):
    def differences(self, theirs, ours):
        return [path for _, path, _, _ in compare.all_differences([failing(theirs)], [failing(ours)])]

    def test_errors_of_preemption_are_compared_in_any_order(self):
        for order in itertools.permutations(ERRORS):
            self.assertEqual(self.differences(ERRORS, order), [])

    def test_errors_of_preemption_are_compared_one_by_one(self):
        for other in (ERRORS[:2], [*ERRORS, ERRORS[0]], [ERRORS[0], ERRORS[0], ERRORS[2]], [*ERRORS[:2], ERRORS[2] + "."]):
            self.assertEqual(self.differences(ERRORS, other), [("message",), ("preempt", "message")])

    def test_words_around_the_errors_are_compared(self):
        theirs, ours = failing(ERRORS), failing(ERRORS[::-1])
        ours["message"] = ours["message"].replace("0/3", "0/4")
        self.assertEqual([path for _, path, _, _ in compare.all_differences([theirs], [ours])], [("message",)])


def entity(status=None, message="", name="a/g", members=("a/p",), **more):
    made = {"group": name, "members": [{"pod": pod, "message": message} for pod in members], **more}
    return {**made, "condition": {"status": status, "message": message}} if status else made


class GroupsTest(unittest.TestCase):
    def differences(self, theirs, ours):
        lists = [groups.as_decisions({"entities": entities, "left": {}}) for entities in (theirs, ours)]
        return [(pod, path) for pod, path, _, _ in compare.all_differences(*lists)]

    def test_entities_are_compared_member_by_member(self):
        self.assertEqual(self.differences([entity("False", "no room")], [entity("False", "no room")]), [])
        self.assertEqual(self.differences([entity(message="no room")], [entity(message="room")]), [("group a/g", ("members", "a/p", "message"))])
        self.assertEqual(self.differences([entity(members=("p", "q"))], [entity(members=("q", "p"))]), [("group a/g", ("order",))])

    def test_pods_that_no_cycle_touched_are_compared(self):
        theirs, ours = groups.as_decisions({"entities": [], "left": {"gated": ["a/p"]}}), groups.as_decisions({"entities": [], "left": {}})
        self.assertEqual([path for _, path, _, _ in compare.all_differences(theirs, ours)], [("gated",)])

    def test_a_condition_that_upstream_takes_back_is_known_to_differ(self):
        theirs = [entity("True"), entity("False", "no room")]
        self.assertEqual(self.differences(theirs, [entity("True"), entity(None, "no room")]), [])
        self.assertEqual(self.differences(theirs[1:], [entity(None, "no room")]), [("group a/g", ("condition",))])

    def test_a_reason_that_upstream_loses_is_known_to_differ(self):
        theirs, ours = [entity("False", groups.NOT_FOUND), entity("True", name="a/h")], [entity("False", "no claim"), entity("True", name="a/h")]
        self.assertEqual(self.differences(theirs, ours), [])
        self.assertEqual(self.differences([entity("False", "other")], ours[:1]), [("group a/g", ("condition", "message")), ("group a/g", ("members", "a/p", "message"))])
        self.assertNotEqual(self.differences(theirs, [*ours[:1], entity("True", name="a/i")]), [])


if __name__ == "__main__":
    unittest.main()
