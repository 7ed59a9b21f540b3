"""`berth run`: a whole cluster in one process, and the tour of the README through it."""
import os
import re
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor

from harness import objects
from harness.client import ApiError, Client, History
from harness.process import Child, free_port
from harness.registry import case

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
ALONE = {"needs": ("berth",), "servers": ("embedded",), "compare": False}
TOUR = {**ALONE, "needs": ("berth", "kubectl")}


class BerthRun:
    def __init__(self, w, *flags):
        self.kubeconfig = os.path.join(w.folder, "run.kubeconfig")
        address = f"127.0.0.1:{free_port()}"
        command = [w.programs.berth, "run", "--listen", address, "--write-kubeconfig", self.kubeconfig]
        self.child = Child("berth run", command + list(flags), os.path.join(w.folder, "run.log"))
        w.at_end(self.child.kill)
        self.api = Client(f"http://{address}")
        w.eventually("the API server", lambda: self.api.find("namespaces", None, "default"))

    def phase(self, name):
        return (self.api.find("pods", "default", name) or {"status": {}})["status"].get("phase")


@case(**ALONE)
def pods_are_bound_and_seem_to_run(w):
    run = BerthRun(w)
    run.api.create("nodes", objects.node("only", cpu="2"))
    run.api.create("pods", objects.pod("web", cpu="2"), "default")
    w.eventually("the pod to run", lambda: run.phase("web") == "Running")
    assert run.api.get("pods", "default", "web")["spec"]["nodeName"] == "only"
    run.api.create("pods", objects.pod("next", cpu="2"), "default")
    run.api.delete("pods", "web", "default")
    w.eventually("the next to run", lambda: run.phase("next") == "Running")
    assert run.child.stop() == 0, run.child.exit_code


@case(**ALONE)
def what_was_there_is_there_again(w):
    data = os.path.join(w.folder, "data")
    first = BerthRun(w, "--data", data)
    first.api.create("nodes", objects.node("only", cpu="2"))
    first.api.create("pods", objects.pod("web", cpu="2"), "default")
    w.eventually("the pod to run", lambda: first.phase("web") == "Running")
    uid = first.api.get("pods", "default", "web")["metadata"]["uid"]
    assert first.child.stop() == 0, first.child.exit_code
    second = BerthRun(w, "--data", data)
    again = second.api.get("pods", "default", "web")
    assert again["metadata"]["uid"] == uid and again["spec"]["nodeName"] == "only", again
    # It still takes its room.
    second.api.create("pods", objects.pod("next", cpu="1"), "default")

    def refused():
        found = second.api.get("pods", "default", "next")["status"].get("conditions") or []
        return any(c.get("reason") == "Unschedulable" for c in found)

    w.eventually("the next to be refused", refused)


@case(**ALONE)
def a_server_that_asks_for_a_token(w):
    token, kubeconfig = os.path.join(w.folder, "token"), os.path.join(w.folder, "guarded.kubeconfig")
    with open(token, "w") as f:
        f.write("open-sesame\n")
    port = free_port()
    command = [w.programs.berth, "apiserver", "--listen", f"127.0.0.1:{port}"]
    command += ["--token-file", token, "--write-kubeconfig", kubeconfig]
    w.at_end(Child("guarded", command, os.path.join(w.folder, "guarded.log")).kill)

    def client(word):
        return Client(f"https://127.0.0.1:{port}", word, insecure=True)

    def code(word):
        return client(word).exchange("GET", "/api/v1/pods")[0]

    w.eventually("those who know the word to get in", lambda: code("open-sesame") == 200)
    assert code(None) == 401
    assert code("open-barley") == 401
    # Over TLS, with the authority that the kubeconfig names.
    w.start_scheduler(kubeconfig=kubeconfig)
    api = client("open-sesame")
    api.create("nodes", objects.node("only"))
    api.create("pods", objects.pod("web"), "default")
    w.eventually("the pod to be bound", lambda: api.get("pods", "default", "web")["spec"].get("nodeName"))


# What kubectl asks for when it prints.
AS_TABLE = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}


def deployment(name, replicas):
    labels = {"app": name}
    template = objects.pod("", cpu="100m", labels=labels)
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": template["spec"]},
        },
    }


def use_kubectl(w, run, name):
    """The requests of somebody who runs a deployment with kubectl, from `apply` to `delete`."""
    api = run.api
    for path in ("/api", "/apis", "/apis/apps/v1", "/openapi/v3", "/version"):
        assert api.exchange("GET", path)[0] == 200, path
    watched = History(api, "pods", "default")
    w.at_end(watched.stop)

    def running(replicas):
        found = api.list("pods", "default", labelSelector=f"app={name}")
        names = [p["metadata"]["name"] for p in found if p["status"].get("phase") == "Running"]
        return names if len(names) == len(found) == replicas else None

    query = {"fieldManager": "kubectl", "force": "true"}
    path = f"/apis/apps/v1/namespaces/default/deployments/{name}"
    apply = {"Content-Type": "application/apply-patch+yaml"}
    api.call("PATCH", path, deployment(name, 2), apply, query)
    w.eventually(f"{name} to run", lambda: running(2))
    api.patch("deployments", name, {"spec": {"replicas": 4}}, "default", "scale")
    w.eventually(f"{name} to have grown", lambda: running(4))
    for listed in ("/api/v1/pods", "/api/v1/nodes", "/apis/apps/v1/deployments", "/api/v1/events"):
        rows = api.call("GET", listed, headers=AS_TABLE, query={"limit": 500})["rows"]
        assert rows, listed
    change = {"spec": {"template": {"metadata": {"annotations": {"restarted": name}}}}}
    api.patch("deployments", name, change, "default", kind="strategic-merge-patch+json")
    victim = running(4)
    if victim:
        try:
            body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": victim[0]}}
            api.call("POST", f"/api/v1/namespaces/default/pods/{victim[0]}/eviction", body)
        except ApiError as error:
            assert error.code == 404, error  # the rollout was quicker

    def rolled_out():
        pods = api.list("pods", "default", labelSelector=f"app={name}")
        return len(pods) == 4 and all(
            p["metadata"].get("annotations", {}).get("restarted") == name
            and p["status"].get("phase") == "Running"
            for p in pods
        )

    w.eventually(f"{name} to be rolled out", rolled_out)
    api.delete("deployments", name, "default")
    w.eventually(f"{name} to be gone", lambda: not api.list("pods", "default", labelSelector=f"app={name}"))
    w.eventually(
        "the watch to have told it all",
        lambda: sum(
            kind == "DELETED" and pod["metadata"]["labels"].get("app") == name
            for kind, pod in watched.events()
        )
        >= 8,
    )


@case(**ALONE)
def many_clients_at_once(w):
    run = BerthRun(w)
    for i in range(3):
        run.api.create("nodes", objects.node(f"node-{i}", cpu="8"))
    names = [f"app-{i}" for i in range(6)]
    with ThreadPoolExecutor(len(names)) as users:
        for done in [users.submit(use_kubectl, w, run, name) for name in names]:
            done.result()
    assert run.child.stop() == 0, run.child.exit_code


def transcript():
    """[(command, what it prints)] of the README's lines that call kubectl."""
    with open(os.path.join(ROOT, "README.md")) as f:
        text = f.read()
    found = []
    for block in re.findall(r"^```\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        if not block.startswith("$ kubectl "):
            continue
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, printed = part.partition("\n")
            found.append((command, printed))
    return found


@case(**TOUR)
def the_tour_of_the_readme(w):
    steps = transcript()
    assert steps, "the README has no lines that call kubectl"
    run = BerthRun(w)
    home = os.path.join(w.folder, "home")
    os.makedirs(home)
    env = {"PATH": os.environ["PATH"], "HOME": home, "KUBECONFIG": run.kubeconfig}
    for command, printed in steps:
        words = shlex.split(command)
        assert words[0] == "kubectl", command
        ran = subprocess.run(
            [w.programs.kubectl, *words[1:]],
            capture_output=True,
            text=True,
            env=env,
            cwd=ROOT,
            timeout=120,
        )
        said = f"$ {command}\n{ran.stdout}{ran.stderr}"
        assert ran.returncode == 0, said
        # What a rollout says while it goes on depends on how quick it is.
        shown = "".join(
            line for line in ran.stdout.splitlines(True) if not line.startswith("Waiting for deployment")
        )
        assert shown == printed, f"{said}\nThe README says:\n{printed}"
