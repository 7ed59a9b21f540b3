"""What packaging/ has for a real cluster: roles that let in those who have them, and objects that are accepted.

Only berth has them, so upstream's scheduler is not asked.
"""
import http.client
import json
import os
import re
import signal
import subprocess
import urllib.parse

from cases.apiserver_kubectl import Kubectl
from harness import objects
from harness.process import Child
from harness.registry import case
from harness.servers import PLAIN_TOKEN

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
REAL = {"needs": ("berth", "kubectl"), "servers": ("real",), "compare": False}
# Answers of the API server are remembered for ten seconds otherwise.
QUICK = ["--authorization-webhook-cache-authorized-ttl=0s", "--authorization-webhook-cache-unauthorized-ttl=0s"]


class Roles:
    """Roles of a file in packaging/, for the user `plain`, who may do nothing without one."""

    def __init__(self, w, role_file):
        self._w, self._kubectl = w, Kubectl(w)
        manifest = os.path.join(ROOT, "packaging", role_file)
        self._kubectl("apply", "-n", "kube-system", "-f", manifest)
        w.at_end(lambda: self._kubectl("delete", "-n", "kube-system", "-f", manifest, "--ignore-not-found"))

    def may(self, role):
        """From now on he has this role, and no other."""
        self._take_away()
        self._kubectl("create", "clusterrolebinding", "visitor", f"--clusterrole={role}", "--user=plain")
        self._w.at_end(self._take_away)

    def _take_away(self):
        self._kubectl("delete", "clusterrolebinding", "visitor", "--ignore-not-found")


class Visitor(Roles):
    """The user `plain` at the port of a scheduler."""

    def __init__(self, w, role_file):
        super().__init__(w, role_file)
        path = w.kubeconfig("guard")
        flags = [f"--authentication-kubeconfig={path}", f"--authorization-kubeconfig={path}", *QUICK]
        self.scheduler = w.start_scheduler(flags=flags)
        self.client = self.scheduler.endpoint(PLAIN_TOKEN)
        self.token = os.path.join(w.folder, "token")
        with open(self.token, "w") as f:
            f.write(PLAIN_TOKEN)

    def code(self, method, path, body=None):
        return self.client.exchange(method, path, body=body)[0]

    def berth(self, *arguments):
        return [
            self._w.programs.berth, *arguments, "--server", self.scheduler.url, "--token-file", self.token,
            "--insecure-skip-tls-verify",
        ]  # fmt: skip

    def run(self, *arguments):
        return subprocess.run(self.berth(*arguments), capture_output=True, text=True, timeout=60, check=False)


def get(link, cookie=None):
    """(code, headers, text) as a browser gets them."""
    parts = urllib.parse.urlsplit(link)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    connection.request("GET", target, headers={"Cookie": cookie} if cookie else {})
    answer = connection.getresponse()
    return answer.status, dict(answer.headers), answer.read().decode()


@case(**REAL)
def the_page_is_for_those_with_the_role(w):
    w.node("only", cpu="1")
    visitor = Visitor(w, "ui-viewer.yaml")
    w.pod("big", cpu="3")
    w.unschedulable("big")
    big = f"{w.namespace}/big"
    looks = ["/ui/", "/ui/data/snapshot", f"/explain?pod={big}", "/debug/waiting-pods"]
    for path in looks:
        assert visitor.code("GET", path) == 403, path
    refused = visitor.run("ui")
    assert refused.returncode == 1 and "nonResourceURLs /ui/*, verb get" in refused.stderr, refused
    refused = visitor.run("explain", big)
    assert refused.returncode == 1 and "nonResourceURLs /explain" in refused.stderr, refused

    visitor.may("berth-ui-viewer")
    w.eventually("the role to count", lambda: visitor.code("GET", "/ui/") == 200)
    for path in looks:
        assert visitor.code("GET", path) == 200, path
    # Looking only.
    assert visitor.code("POST", f"/debug/waiting-pods/{big}/allow") == 403
    assert visitor.code("GET", "/metrics") == 403
    told = visitor.run("explain", big)
    assert told.returncode == 3 and "Insufficient cpu" in told.stdout, told

    visitor.may("berth-ui-operator")
    w.eventually("the other role to count", lambda: visitor.code("POST", f"/debug/waiting-pods/{big}/allow") == 404)
    assert visitor.code("GET", "/ui/") == 200


@case(**REAL)
def a_browser_sees_the_page_through_berth_ui(w):
    w.node("only", cpu="1")
    visitor = Visitor(w, "ui-viewer.yaml")
    visitor.may("berth-ui-viewer")
    w.eventually("the role to count", lambda: visitor.code("GET", "/ui/") == 200)
    proxy = Child("berth ui", visitor.berth("ui"), os.path.join(w.folder, "ui.log"))
    w.at_end(proxy.kill)
    link = w.eventually("the link", lambda: re.search(r"http://127\.0\.0\.1:\d+/\S+\?token=\S+", proxy.text()))[0]
    code, headers, _ = get(link)
    cookie = headers["Set-Cookie"].split(";")[0]
    assert code in (200, 302, 303), code
    assert get(link)[0] == 403, "the link works once"
    base = link[: link.index("/open?")]
    assert get(base + "/ui/")[0] == 403, "without the cookie nothing is shown"
    code, headers, text = get(base + "/ui/", cookie)
    assert code == 200 and "<html" in text and headers["Content-Security-Policy"], (code, headers)

    snapshot = json.loads(get(base + "/ui/data/snapshot", cookie)[2])
    assert "only" in json.dumps(snapshot), snapshot
    w.pod("web")
    w.bound("web")

    def told():
        changes = get(f"{base}/ui/data/changes?since={snapshot['cursor']}", cookie)[2]
        return f"{w.namespace}/web" in changes or '"web"' in changes

    w.eventually("the page to hear of the pod", told)
    explained = json.loads(get(f"{base}/explain?pod={w.namespace}/web", cookie)[2])
    assert explained["pods"][0]["chosen"] == "only", explained
    proxy.signal(signal.SIGINT)
    assert proxy.wait(20) == 0, proxy.text()


@case(**REAL)
def explanations_are_for_those_with_the_role(w):
    w.node("only", cpu="2")
    visitor = Visitor(w, "explain-asker.yaml")
    new = objects.pod("new", cpu="1")
    new["metadata"]["namespace"] = w.namespace
    assert visitor.code("POST", "/explain", new) == 403
    visitor.may("berth-explain-asker")
    w.eventually("the role to count", lambda: visitor.code("POST", "/explain", new) == 200)
    assert visitor.code("GET", "/explain?all-pending=true") == 200
    assert visitor.code("GET", "/ui/") == 403


@case(**REAL)
def a_live_cluster_is_explained_to_those_with_the_role(w):
    w.node("only", cpu="1")
    w.pod("big", cpu="3")
    roles = Roles(w, "explain-reader.yaml")
    command = [w.programs.berth, "explain", "-n", w.namespace, "big"]
    command += ["--kubeconfig", w.kubeconfig("plain", user=w.server.user(PLAIN_TOKEN))]

    def explain():
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    refused = explain()
    assert refused.returncode == 1 and "packaging/explain-reader.yaml" in refused.stderr, refused
    roles.may("berth-explain-reader")
    w.eventually("the role to count", lambda: explain().returncode == 3)
    assert "Insufficient cpu" in explain().stdout


@case(**REAL)
def a_cluster_is_recorded_by_those_with_the_role(w):
    roles = Roles(w, "recorder.yaml")
    w.node("only")
    file = os.path.join(w.folder, "trace.jsonl")
    command = [w.programs.berth, "record", "-o", file]
    command += ["--kubeconfig", w.kubeconfig("plain", user=w.server.user(PLAIN_TOKEN))]
    refused = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert refused.returncode == 1 and "packaging/recorder.yaml" in refused.stderr, refused
    roles.may("berth-recorder")

    def listed():
        recorder = Child("berth record", command, os.path.join(w.folder, "record.log"))
        w.at_end(recorder.kill)
        w.eventually("an answer", lambda: not recorder.running() or '"only"' in open(file).read())
        recorder.signal(signal.SIGINT)
        return recorder.wait(20) == 0

    w.eventually("the role to count", listed)
    with open(file) as f:
        lines = [json.loads(line) for line in f]
    assert lines[-1]["type"] == "END", lines[-1]
    assert any(line.get("object", {}).get("metadata", {}).get("name") == "only" for line in lines)


@case(**REAL)
def manifests_are_accepted(w):
    """Everything that is there to be applied, with its fields and values as the real server knows them."""
    kubectl = Kubectl(w)
    files = [os.path.join(ROOT, "examples", "sweep", "job.yaml")]
    packaging = os.path.join(ROOT, "packaging")
    files += [os.path.join(packaging, name) for name in sorted(os.listdir(packaging)) if name.endswith(".yaml")]
    for name in files:
        kubectl("apply", "--dry-run=server", "--validate=strict", "-n", "", "-f", name)
