"""One Lease, several schedulers."""
import time

from harness.registry import case
from harness.schedulers import QUICK_ELECTION

LEASE = ("leases", "kube-system", "kube-scheduler")


def holder(w):
    lease = w.api.find(*LEASE)
    return (lease or {"spec": {}})["spec"].get("holderIdentity") or ""


def leads(scheduler):
    return scheduler.metrics().value("leader_election_master_status", name="kube-scheduler") == 1


@case()
def the_lease_is_taken_and_kept(w):
    w.node("only")
    scheduler = w.start_scheduler(flags=QUICK_ELECTION)
    w.pod("web")
    w.bound("web")
    spec = w.api.get(*LEASE)["spec"]
    assert spec["leaseDurationSeconds"] == 4, spec
    assert spec["leaseTransitions"] == 0, spec
    host, _, identity = spec["holderIdentity"].rpartition("_")
    assert host and len(identity) == 36, spec
    assert leads(scheduler)
    first = spec["renewTime"]
    w.eventually("the lease to be renewed", lambda: w.api.get(*LEASE)["spec"]["renewTime"] != first)
    again = w.api.get(*LEASE)["spec"]
    assert again["acquireTime"] == spec["acquireTime"], (spec, again)
    assert again["holderIdentity"] == spec["holderIdentity"]


@case()
def an_event_tells_who_leads(w):
    w.start_scheduler(flags=QUICK_ELECTION)
    w.eventually("a holder", lambda: holder(w))

    def told():
        events = w.api.list("events", "kube-system")
        return [e for e in events if e.get("message") == f"{holder(w)} became leader"]

    event = w.eventually("the event", told)[0]
    assert event["reason"] == "LeaderElection" and event["type"] == "Normal", event
    assert event["involvedObject"]["kind"] == "Lease", event
    assert event["involvedObject"]["name"] == "kube-scheduler", event


@case()
def only_one_of_two_works(w):
    w.node("only", cpu="20")
    first = w.start_scheduler("first", flags=QUICK_ELECTION)
    w.eventually("the first to lead", lambda: leads(first))
    second = w.start_scheduler("second", flags=QUICK_ELECTION)
    w.pods(5)
    w.bound(*(f"pod-{i}" for i in range(5)))
    assert leads(first) and not leads(second)
    assert second.ready()
    done = second.metrics().value("scheduler_schedule_attempts_total")
    assert not done, done


@case()
def a_killed_leader_is_followed_within_the_lease(w):
    w.node("only", cpu="20")
    first = w.start_scheduler("first", flags=QUICK_ELECTION)
    w.eventually("the first to lead", lambda: leads(first))
    second = w.start_scheduler("second", flags=QUICK_ELECTION)
    old = holder(w)
    w.pod("before")
    w.bound("before")
    first.kill()
    w.pod("after")
    start = time.monotonic()
    w.bound("after")
    # Not sooner than the old lease allows; later only by what a busy machine adds.
    took = time.monotonic() - start
    assert 1 < took < 30, took
    assert leads(second)
    spec = w.api.get(*LEASE)["spec"]
    assert spec["holderIdentity"] != old and spec["leaseTransitions"] == 1, spec


@case()
def a_leader_that_goes_hands_over(w):
    w.node("only", cpu="20")
    slow = [f for f in QUICK_ELECTION if "duration" not in f and "deadline" not in f]
    slow += ["--leader-elect-lease-duration=120s", "--leader-elect-renew-deadline=60s"]
    first = w.start_scheduler("first", flags=slow)
    w.eventually("the first to lead", lambda: leads(first))
    second = w.start_scheduler("second", flags=slow)
    first.terminate()
    assert first.child.wait(30) == 0, first.child.exit_code
    # Far sooner than the lease would have run out.
    w.pod("after")
    w.bound("after", seconds=60)
    assert leads(second)


@case()
def a_lease_given_up_is_blank(w):
    first = w.start_scheduler("first", flags=QUICK_ELECTION)
    w.eventually("the first to lead", lambda: leads(first))
    first.terminate()
    assert first.child.wait(30) == 0, first.child.exit_code
    spec = w.api.get(*LEASE)["spec"]
    assert not spec.get("holderIdentity"), spec
    assert spec["leaseDurationSeconds"] == 1, spec


@case()
def a_leader_that_loses_its_lease_ends(w):
    first = w.start_scheduler("first", flags=QUICK_ELECTION)
    w.eventually("the first to lead", lambda: leads(first))

    def usurp(lease):
        lease["spec"]["holderIdentity"] = "somebody-else"

    w.edit(*LEASE[::2], usurp, LEASE[1])
    assert first.child.wait(60) == 1, first.child.exit_code
    assert "Leaderelection lost" in first.log()
    # What is not ours any more is left alone.
    assert holder(w) == "somebody-else"


@case()
def a_leader_cut_off_from_the_server_ends(w):
    w.node("only")
    proxy = w.proxy()
    first = w.start_scheduler("first", through=proxy, flags=QUICK_ELECTION)
    w.eventually("the first to lead", lambda: leads(first))
    proxy.down()
    assert first.child.wait(60) == 1, first.child.exit_code
    assert "Leaderelection lost" in first.log()


@case()
def a_lease_of_another_name(w):
    w.node("only")
    flags = QUICK_ELECTION + [
        "--leader-elect-resource-name=second-scheduler",
        f"--leader-elect-resource-namespace={w.namespace}",
    ]
    if w.server.checks_tokens:
        allow_leases(w)
    w.start_scheduler(flags=flags)
    w.pod("web")
    w.bound("web")
    assert w.api.get("leases", w.namespace, "second-scheduler")["spec"]["holderIdentity"]
    assert not holder(w)


def allow_leases(w):
    base = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{w.namespace}"
    rules = [
        {
            "apiGroups": ["coordination.k8s.io"],
            "resources": ["leases"],
            "verbs": ["create", "get", "update", "list", "watch"],
        }
    ]
    w.api.call("POST", f"{base}/roles", {"metadata": {"name": "leases"}, "rules": rules})
    group = "rbac.authorization.k8s.io"
    subject = {"kind": "User", "apiGroup": group, "name": "system:kube-scheduler"}
    reference = {"kind": "Role", "apiGroup": group, "name": "leases"}
    body = {"metadata": {"name": "leases"}, "subjects": [subject], "roleRef": reference}
    w.api.call("POST", f"{base}/rolebindings", body)


@case()
def no_work_before_the_lease(w):
    body = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "kube-scheduler", "namespace": "kube-system"},
        "spec": {
            "holderIdentity": "somebody-else",
            "leaseDurationSeconds": 4,
            "acquireTime": "2020-01-01T00:00:00.000000Z",
            "renewTime": "2020-01-01T00:00:00.000000Z",
            "leaseTransitions": 5,
        },
    }
    w.api.create("leases", body, "kube-system")
    w.node("only")
    w.pod("web")
    scheduler = w.start_scheduler(flags=QUICK_ELECTION)
    # However old the dates in it are, a lease counts from when it was first seen.
    w.always("the pod waits", lambda: w.unbound("web"), 1.5)
    assert not leads(scheduler)
    w.bound("web")
    spec = w.api.get(*LEASE)["spec"]
    assert spec["leaseTransitions"] == 6, spec


@case(needs=("berth", "upstream"), compare=False)
def berth_and_kube_scheduler_share_a_lease(w):
    w.node("only", cpu="20")
    count = 0
    for leader, follower in (
        (w.programs.upstream, w.programs.berth),
        (w.programs.berth, w.programs.upstream),
    ):
        first = w.start_scheduler(f"leader-{count}", program=leader, flags=QUICK_ELECTION)
        w.eventually("the first to lead", lambda: leads(first))
        second = w.start_scheduler(f"follower-{count}", program=follower, flags=QUICK_ELECTION)
        w.pod(f"before-{count}")
        w.bound(f"before-{count}")
        assert not second.metrics().value("scheduler_schedule_attempts_total")
        first.kill()
        w.pod(f"after-{count}")
        w.bound(f"after-{count}")
        assert leads(second)
        second.terminate()
        assert second.child.wait(30) == 0, second.child.exit_code
        assert not holder(w)
        count += 1
