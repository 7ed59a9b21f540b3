"""The scheduler is stopped or killed at any time and comes back: no pod twice, none forgotten."""
import threading

from harness.faulty_proxy import hold, is_bind
from harness.registry import case


@case(placement=False)
def killed_again_and_again(w):
    w.nodes(4, cpu="20")
    proxy = w.proxy()
    names = [f"pod-{i}" for i in range(40)]
    w.pods(40, cpu="1")
    # Each life ends after some more binds than the one before.
    for life, binds in enumerate((3, 7, 12)):
        scheduler = w.start_scheduler(f"life-{life}", through=proxy, ready=False)
        before = len(proxy.binds(code=201))
        w.eventually("some binds", lambda: len(proxy.binds(code=201)) >= min(before + binds, 40), 120)
        scheduler.kill()
    w.start_scheduler("last-life", through=proxy)
    w.bound(*names)
    w.bound_once(proxy, *names)


@case()
def killed_while_a_bind_was_on_its_way(w):
    w.node("only", cpu="2")
    proxy = w.proxy()
    go_on = threading.Event()
    w.at_end(go_on.set)
    held = proxy.on(is_bind("web"), hold(go_on), times=1)
    scheduler = w.start_scheduler("first", through=proxy)
    w.pod("web", cpu="2")
    w.eventually("the bind to be on its way", lambda: held.done == 1)
    scheduler.kill()
    go_on.set()
    w.start_scheduler("second", through=proxy)
    assert w.bound("web") == ["only"]
    w.pod("other", cpu="2")
    w.unschedulable("other")


@case()
def what_it_knew_is_known_again(w):
    w.node("only", cpu="2")
    first = w.start_scheduler("first")
    w.pod("resident", cpu="2")
    w.bound("resident")
    w.pod("waiting", cpu="2")
    w.unschedulable("waiting")
    w.pod("gated", cpu="2", schedulingGates=[{"name": "example.com/wait"}])
    first.kill()
    second = w.start_scheduler("second")
    w.eventually(
        "one gated pod",
        lambda: second.metrics().value("scheduler_pending_pods", queue="gated") == 1,
    )
    assert w.unbound("waiting")
    w.delete_pod("resident")
    assert w.bound("waiting") == ["only"]
    assert w.unbound("gated")


@case()
def asked_to_go_without_an_election(w):
    w.node("only")
    scheduler = w.start_scheduler()
    scheduler.terminate()
    assert scheduler.child.wait(30) == 1, scheduler.child.exit_code
    assert "finished without leader elect" in scheduler.log()


@case()
def asked_to_go_with_an_election(w):
    w.node("only")
    scheduler = w.start_scheduler(flags=["--leader-elect=true"])
    w.pod("web")
    w.bound("web")
    scheduler.terminate()
    assert scheduler.child.wait(30) == 0, scheduler.child.exit_code
    assert "Requested to terminate, exiting" in scheduler.log()
