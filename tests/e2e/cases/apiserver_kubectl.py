"""kubectl, unmodified, against the server."""
import json
import os
import subprocess

from harness.registry import case


class Kubectl:
    def __init__(self, w):
        self._w = w
        home = os.path.join(w.folder, "home")
        os.makedirs(home, exist_ok=True)
        config = w.kubeconfig("kubectl", user=w.server.user("token-of-the-suite"))
        self._env = {"PATH": os.environ["PATH"], "HOME": home, "KUBECONFIG": config}

    def __call__(self, *arguments, stdin=None, code=0):
        command = [self._w.programs.kubectl, "-n", self._w.namespace, *arguments]
        ran = subprocess.run(
            command, input=stdin, capture_output=True, text=True, env=self._env, timeout=120
        )
        said = f"kubectl {' '.join(arguments)}: {ran.returncode}\n{ran.stdout}{ran.stderr}"
        assert ran.returncode == code, said
        return ran.stdout if code == 0 else ran.stderr


POD = """
apiVersion: v1
kind: Pod
metadata:
  name: web
  labels: {app: web}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - name: c
    image: registry.k8s.io/pause:3.10
    resources: {requests: {cpu: 500m}}
"""


@case(needs=("kubectl",), compare=False)
def objects_come_and_go(w):
    kubectl = Kubectl(w)
    w.node("only")
    assert kubectl("apply", "-f", "-", stdin=POD) == "pod/web created\n"
    assert kubectl("apply", "-f", "-", stdin=POD) == "pod/web unchanged\n"
    changed = POD.replace("{app: web}", "{app: web, tier: front}")
    assert kubectl("apply", "-f", "-", stdin=changed) == "pod/web configured\n"
    rows = kubectl("get", "pods", "-o", "wide").splitlines()
    assert rows[0].split()[:5] == ["NAME", "READY", "STATUS", "RESTARTS", "AGE"], rows
    assert rows[1].split()[:3] == ["web", "0/1", "Pending"], rows
    assert json.loads(kubectl("get", "pod", "web", "-o", "json"))["metadata"]["labels"]["tier"] == "front"
    assert kubectl("get", "pods", "-l", "tier=front", "-o", "name") == "pod/web\n"
    assert kubectl("get", "pod", "web", "-o", "jsonpath={.spec.containers[0].name}") == "c"
    assert kubectl("label", "pod", "web", "colour=red") == "pod/web labeled\n"
    assert "colour=red" in kubectl("describe", "pod", "web")
    assert kubectl("delete", "pod", "web").startswith('pod "web" deleted')
    assert 'pods "web" not found' in kubectl("get", "pod", "web", code=1)


@case(needs=("kubectl",), compare=False)
def nodes_are_looked_after(w):
    kubectl = Kubectl(w)
    w.node("only")
    assert kubectl("cordon", "only") == "node/only cordoned\n"
    assert "SchedulingDisabled" in kubectl("get", "nodes")
    assert kubectl("uncordon", "only") == "node/only uncordoned\n"
    assert kubectl("taint", "node", "only", "team=red:NoSchedule") == "node/only tainted\n"
    assert "team=red:NoSchedule" in kubectl("describe", "node", "only")
    assert kubectl("taint", "node", "only", "team-") == "node/only untainted\n"


@case(needs=("kubectl",), compare=False)
def it_sees_what_the_scheduler_does(w):
    kubectl = Kubectl(w)
    w.node("only")
    w.start_scheduler()
    kubectl("apply", "-f", "-", stdin=POD)
    kubectl("wait", "--for=condition=PodScheduled", "pod/web", "--timeout=60s")
    w.event("web", "Scheduled")
    assert kubectl("get", "pod", "web", "-o", "jsonpath={.spec.nodeName}") == "only"
    told = f"Successfully assigned {w.namespace}/web to only"
    assert told in kubectl("events")
    assert told in kubectl("describe", "pod", "web")


@case(needs=("kubectl",), compare=False)
def what_is_there(w):
    kubectl = Kubectl(w)
    assert kubectl("create", "namespace", f"{w.namespace}-more").endswith("created\n")
    assert kubectl("auth", "can-i", "create", "pods") == "yes\n"
    listed = kubectl("api-resources", "-o", "name").splitlines()
    for name in ("pods", "nodes", "leases.coordination.k8s.io", "poddisruptionbudgets.policy"):
        assert name in listed, listed
    kubectl("version")
