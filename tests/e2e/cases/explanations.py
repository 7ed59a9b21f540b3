"""`/explain` and `berth explain --server`: what a running scheduler says about its pods.

Only berth has it, so upstream's scheduler is not asked.
"""
import json
import os
import subprocess

from cases.berth_run import BerthRun
from harness import objects
from harness.registry import case
from harness.servers import ADMIN_TOKEN

ALONE = {"needs": ("berth",), "servers": ("embedded",), "compare": False}


def ask(client, path, code=200, method="GET", body=None):
    got, _, content = client.exchange(method, path, body=body)
    assert got == code, f"{method} {path}: {got} {content[:300]}"
    return json.loads(content)


def explain(w, *arguments):
    return subprocess.run(
        [w.programs.berth, "explain", *arguments], capture_output=True, text=True, timeout=120, check=False
    )


@case(**ALONE)
def a_scheduler_explains_its_pods(w):
    path = w.kubeconfig("guard")
    flags = [f"--authentication-kubeconfig={path}", f"--authorization-kubeconfig={path}"]
    scheduler = w.start_scheduler(flags=flags)
    w.node("small", cpu="1")
    w.pod("big", cpu="3")
    w.unschedulable("big")
    big = f"{w.namespace}/big"
    client = scheduler.endpoint(ADMIN_TOKEN)

    def place():
        return ask(client, f"/explain?pod={big}")["pods"][0]["queue"]["place"]

    # Its first try may have been before the node was seen, which makes it back off for a second.
    w.eventually("the pod waits for an event", lambda: place() == "unschedulable")
    (about,) = ask(client, f"/explain?pod={big}")["pods"]
    assert about["verdict"] == "Unschedulable", about
    (obstacle,) = about["rejections"][0]["plugins"]
    assert (obstacle["plugin"], obstacle["code"]) == ("NodeResourcesFit", "InsufficientResource"), obstacle
    assert about["suggestions"][0]["code"] == "ReduceRequest", about["suggestions"]
    assert about["suggestions"][0]["changes"][0]["patch"][0]["value"] == "1", about["suggestions"]
    assert about["queue"]["attempts"] >= 1, about["queue"]
    assert about["preemption"]["reasons"][0]["code"] == "NotAboutPods", about["preemption"]
    assert "suggestions" not in ask(client, f"/explain?pod={big}&suggestions=false")["pods"][0]
    assert [p["pod"] for p in ask(client, "/explain?all-pending=true")["pods"]] == [big]

    # A pod that does not exist: it would fit, and it is not made.
    new = objects.pod("new", cpu="1")
    new.update(apiVersion="v1", kind="Pod")
    new["metadata"]["namespace"] = w.namespace
    (would,) = ask(client, "/explain", method="POST", body=new)["pods"]
    assert (would["verdict"], would["chosen"]) == ("Schedulable", "small"), would
    assert w.api.find("pods", w.namespace, "new") is None

    assert ask(client, "/explain?pod=no/such", code=404)["reason"] == "NotFound"
    assert ask(client, "/explain", code=400)["reason"] == "BadRequest"
    assert ask(client, "/explain", code=400, method="POST", body=b"no JSON")["reason"] == "BadRequest"

    # The next answer is about the cluster as it is then.
    w.node("large", cpu="4")
    w.bound("big")
    assert ask(client, f"/explain?pod={big}")["pods"][0]["chosen"] == "large"

    token = os.path.join(w.folder, "explain-token")
    with open(token, "w") as f:
        f.write(ADMIN_TOKEN)
    told = explain(w, big, "--server", scheduler.url, "--token-file", token, "--insecure-skip-tls-verify")
    assert told.returncode == 0 and told.stdout.startswith(f"{big} is on large\n"), told


@case(**ALONE)
def a_whole_cluster_explains_its_pods(w):
    run = BerthRun(w)
    run.api.create("nodes", objects.node("only", cpu="2"))
    run.api.create("pods", objects.pod("huge", cpu="20"), "default")

    def refused():
        return explain(w, "huge", "--server", run.api.url).stdout.find("In the queue: the pod waits") > 0

    w.eventually("the pod to wait for an event", refused)
    told = explain(w, "huge", "--server", run.api.url, "-o", "json")
    assert told.returncode == 3, told
    about = json.loads(told.stdout)["pods"][0]
    assert about["suggestions"][0]["summary"] == "request 2 cpu instead of 20", about["suggestions"]
    nothing = explain(w, "nobody", "--server", run.api.url)
    assert nothing.returncode == 1 and nothing.stderr == 'berth: pod "default/nobody" not found\n', nothing
    assert run.child.stop() == 0, run.child.exit_code
