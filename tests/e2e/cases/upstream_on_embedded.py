"""Upstream's own kube-scheduler on the embedded API server: the best proof of that server."""
import re

from harness.objects import priority_class
from harness.registry import case


@case(needs=("upstream",), servers=("embedded",), placement=False, compare=False)
def it_schedules(w):
    w.nodes(5, cpu="8")
    upstream = w.start_scheduler(program=w.programs.upstream, flags=["--leader-elect=true"])
    w.pods(50, cpu="500m")
    w.bound(*(f"pod-{i}" for i in range(50)))
    w.event("pod-49", "Scheduled")
    w.pod("big", cpu="64")
    w.unschedulable("big", re.compile(r"^0/5 nodes are available: 5 Insufficient cpu\."))
    w.event("big", "FailedScheduling")
    log = upstream.log()
    assert "Failed to watch" not in log, [l for l in log.splitlines() if "Failed to watch" in l][:3]


@case(needs=("upstream",), servers=("embedded",), compare=False)
def it_preempts(w):
    w.api.create("priorityclasses", priority_class("e2e-high", 1000))
    w.node("only", cpu="2")
    w.start_scheduler(program=w.programs.upstream)
    w.pod("victim", cpu="2")
    w.bound("victim")
    w.pod("important", cpu="2", priorityClassName="e2e-high")
    assert w.bound("important") == ["only"]
    w.event("victim", "Preempted")


@case(needs=("upstream",), servers=("embedded",), compare=False, placement=False)
def it_survives_a_restart_of_the_server(w):
    w.nodes(2, cpu="20")
    w.start_scheduler(program=w.programs.upstream)
    w.pods(5, prefix="before-")
    w.server.restart()
    w.pods(5, prefix="after-")
    w.bound(*(f"{p}-{i}" for p in ("before", "after") for i in range(5)), seconds=120)
