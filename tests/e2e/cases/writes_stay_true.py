"""What is written about a pod in the background: in the end it says what was decided last."""
import re
import threading

from harness.faulty_proxy import answer, hold, is_request
from harness.registry import case
from harness.world import condition


def is_status_patch(name):
    return is_request("PATCH", f"/pods/{name}/status$")


def says_scheduled(w, *names):
    """Whether all of them have PodScheduled=True and no nominated node."""
    pods = {p["metadata"]["name"]: p for p in w.api.list("pods", w.namespace)}
    return all(
        (condition(pods[name], "PodScheduled") or {}).get("status") == "True"
        and not pods[name]["status"].get("nominatedNodeName")
        for name in names
    )


@case(placement=False)
def bindings_overtake_status_writes_that_wait_for_their_turn(w):
    scheduler = w.start_scheduler(config={"clientConnection": {"qps": 5, "burst": 1}})
    names = [p["metadata"]["name"] for p in w.pods(20, cpu="1m")]
    w.eventually(
        "all to have been refused",
        lambda: scheduler.metrics().value("scheduler_schedule_attempts_total", result="unschedulable") >= 20,
    )
    w.node("late", cpu="1")
    w.bound(*names)
    # Whatever was still to be written has been written by then.
    w.always("bound pods are scheduled", lambda: says_scheduled(w, *names), seconds=3)


# Upstream's scheduling thread waits for the answer to a status patch, and binds nothing meanwhile.
@case(servers=("embedded",))
def a_status_write_that_arrives_after_the_binding_changes_nothing(w):
    proxy = w.proxy()
    arrives = threading.Event()
    w.at_end(arrives.set)
    rule = proxy.on(is_status_patch("web"), hold(arrives), times=1)
    w.start_scheduler(through=proxy)
    w.pod("web", cpu="1m")
    w.eventually("the status to be on its way", lambda: rule.done == 1)
    w.node("late", cpu="1")
    assert w.bound("web") == ["late"]
    arrives.set()
    w.always("the bound pod is scheduled", lambda: says_scheduled(w, "web"))


# Upstream gives up after four tries; the condition is written when the pod is tried the next time.
@case(servers=("embedded",))
def a_status_write_that_fails_is_written_in_the_end(w):
    proxy = w.proxy()
    busy = answer(503, "ServiceUnavailable", "not now")
    rule = proxy.on(is_status_patch("web"), busy, times=6)
    w.node("small", cpu="1")
    w.start_scheduler(through=proxy)
    w.pod("web", cpu="3")
    w.unschedulable("web", re.compile("1 Insufficient cpu"))
    assert rule.done == 6, rule.done
