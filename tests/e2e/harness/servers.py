"""API servers to run against: the embedded one, and the real one with its etcd.

Both offer the same: start, stop, restart with everything kept, a client for the suite, and what a
scheduler needs to know to get in.
"""
import json
import os
import re
import shutil
import subprocess

from .client import ApiError, Client
from .process import Child, free_port, wait_until

ADMIN_TOKEN = "token-of-the-suite"
SCHEDULER_TOKEN = "token-of-the-scheduler"
MONITOR_TOKEN = "token-of-a-monitor"
PLAIN_TOKEN = "token-of-a-nobody"


def write_kubeconfig(path, server, user=None, cluster=None):
    """A kubeconfig with one context; YAML has JSON in it, so JSON will do."""
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "suite",
        "clusters": [{"name": "suite", "cluster": {"server": server, **(cluster or {})}}],
        "users": [{"name": "suite", "user": user or {}}],
        "contexts": [{"name": "suite", "context": {"cluster": "suite", "user": "suite"}}],
    }
    with open(path, "w") as f:
        json.dump(config, f, indent=1)
    return path


class EmbeddedServer:
    """`berth apiserver`. Each case gets its own: starting one costs next to nothing."""

    kind = "embedded"
    shared = False
    checks_tokens = False

    def __init__(self, folder, berth):
        self._folder, self._berth = folder, berth
        self._child = None
        self.ca = None
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"

    @property
    def logs(self):
        return [os.path.join(self._folder, "apiserver.log")]

    def start(self):
        command = [
            self._berth, "apiserver",
            "--listen", f"127.0.0.1:{self.port}",
            "--write-kubeconfig", os.path.join(self._folder, "embedded.kubeconfig"),
            "--data", os.path.join(self._folder, "embedded.data"),
            # Nobody but the scheduler acts here, as in the suite's real cluster.
            "--controllers", "",
        ]  # fmt: skip
        self._child = Child("apiserver", command, self.logs[0])
        self._await()

    def stop(self):
        if self._child:
            self._child.stop()
            self._child = None

    def restart(self, while_down=None):
        """Ends and starts anew, with the same objects at the same address."""
        self.stop()
        if while_down:
            while_down()
        self.start()

    def pause(self):
        """The process holds still: connections stay open, nothing is answered."""
        self._child.pause()

    def resume(self):
        self._child.resume()

    def client(self, token=ADMIN_TOKEN):
        return Client(self.url, token)

    def user(self, token=SCHEDULER_TOKEN):
        return {"token": token}

    def cluster(self):
        return {}

    def clean(self):
        """Nothing to do: the next case has a server of its own."""

    def _await(self):
        client = self.client()

        def answers():
            if not self._child.running():
                raise AssertionError("berth apiserver ended: " + self._child.text()[-2000:])
            return client.exchange("GET", "/api/v1/namespaces/default")[0] == 200

        wait_until("the embedded API server", answers)


class RealServer:
    """etcd and kube-apiserver, with RBAC and the scheduler's own user; one for many cases."""

    kind = "real"
    shared = True
    checks_tokens = True

    def __init__(self, folder, binaries):
        self._folder, self._binaries = folder, binaries
        self._etcd = self._apiserver = None
        self._etcd_port, self._peer_port = free_port(), free_port()
        self.port = free_port()
        self.url = f"https://127.0.0.1:{self.port}"
        self.ca = os.path.join(folder, "certificates", "apiserver.crt")

    @property
    def logs(self):
        return [os.path.join(self._folder, n) for n in ("kube-apiserver.log", "etcd.log")]

    def start(self):
        os.makedirs(os.path.join(self._folder, "certificates"), exist_ok=True)
        with open(os.path.join(self._folder, "tokens.csv"), "w") as f:
            f.write(f"{ADMIN_TOKEN},suite,1,system:masters\n")
            f.write(f"{SCHEDULER_TOKEN},system:kube-scheduler,2\n")
            f.write(f"{MONITOR_TOKEN},monitor,3,system:monitoring\n")
            f.write(f"{PLAIN_TOKEN},plain,4\n")
        key = os.path.join(self._folder, "service-accounts.key")
        if not os.path.exists(key):
            _write_rsa_key(key)
        client_url = f"http://127.0.0.1:{self._etcd_port}"
        peer_url = f"http://127.0.0.1:{self._peer_port}"
        self._etcd = Child(
            "etcd",
            [
                os.path.join(self._binaries, "etcd"),
                "--data-dir", os.path.join(self._folder, "etcd"),
                "--listen-client-urls", client_url, "--advertise-client-urls", client_url,
                "--listen-peer-urls", peer_url, "--initial-advertise-peer-urls", peer_url,
                "--initial-cluster", f"default={peer_url}",
                "--unsafe-no-fsync", "--log-level", "warn",
            ],
            self.logs[1],
        )  # fmt: skip
        self._start_apiserver()

    def _start_apiserver(self):
        key = os.path.join(self._folder, "service-accounts.key")
        self._apiserver = Child(
            "kube-apiserver",
            [
                os.path.join(self._binaries, "kube-apiserver"),
                "--etcd-servers", f"http://127.0.0.1:{self._etcd_port}",
                "--bind-address", "127.0.0.1", "--secure-port", str(self.port),
                "--cert-dir", os.path.join(self._folder, "certificates"),
                "--token-auth-file", os.path.join(self._folder, "tokens.csv"),
                "--authorization-mode", "RBAC",
                "--service-cluster-ip-range", "10.0.0.0/24",
                "--service-account-issuer", "https://suite", "--api-audiences", "https://suite",
                "--service-account-key-file", key, "--service-account-signing-key-file", key,
                # There are no controllers and no kubelets here to make service accounts and to lift
                # the taint of a new node.
                "--disable-admission-plugins", "ServiceAccount,TaintNodesByCondition",
                "--shutdown-delay-duration", "0s",
            ],
            self.logs[0],
        )  # fmt: skip
        client = self.client

        def answers():
            if not self._apiserver.running():
                raise AssertionError("kube-apiserver ended: " + self._apiserver.text()[-2000:])
            admin = client()
            ready = admin.exchange("GET", "/readyz")[0] == 200
            # The roles of the scheduler are there some moments after the first answer.
            role = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/system:kube-scheduler"
            classes = admin.find("priorityclasses", None, "system-node-critical")
            return ready and classes and admin.exchange("GET", role)[0] == 200

        wait_until("the real API server", answers, seconds=600, step=0.2)

    def stop(self):
        for child in (self._apiserver, self._etcd):
            if child:
                child.stop(10)
        self._apiserver = self._etcd = None

    def restart(self, while_down=None):
        self._apiserver.kill()
        if while_down:
            while_down()
        self._start_apiserver()

    def pause(self):
        self._apiserver.pause()

    def resume(self):
        self._apiserver.resume()

    def client(self, token=ADMIN_TOKEN):
        return Client(self.url, token, ca=self.ca)

    def user(self, token=SCHEDULER_TOKEN):
        return {"token": token}

    def cluster(self):
        return {"certificate-authority": self.ca}

    def clean(self):
        """Takes away what the last case left, so that the next one finds an empty cluster."""
        admin = self.client()
        for resource in (
            "pods", "persistentvolumeclaims", "resourceclaims", "poddisruptionbudgets", "replicasets",
        ):  # fmt: skip
            for item in admin.list(resource):
                _remove(admin, resource, item)
        for lease in admin.list("leases", "kube-system"):
            if not lease["metadata"]["name"].startswith("apiserver-"):
                _remove(admin, "leases", lease)
        for resource in ("nodes", "persistentvolumes", "storageclasses", "resourceslices", "deviceclasses",
                         "devicetaintrules"):  # fmt: skip
            for item in admin.list(resource):
                _remove(admin, resource, item)
        for item in admin.list("priorityclasses"):
            if not item["metadata"]["name"].startswith("system-"):
                _remove(admin, "priorityclasses", item)


def _remove(client, resource, item):
    meta = item["metadata"]
    namespace = meta.get("namespace")
    if meta.get("finalizers"):
        try:
            client.patch(resource, meta["name"], {"metadata": {"finalizers": None}}, namespace)
        except ApiError as error:
            if error.code != 404:
                raise
    client.delete(resource, meta["name"], namespace, grace=0)


def _write_rsa_key(path):
    subprocess.run(["openssl", "genrsa", "-out", path, "2048"], check=True, capture_output=True)


def upstream_folders():
    """Where real components may be: the folder that the user names, and what scripts/upstream/build.sh made."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    with open(os.path.join(root, "scripts", "upstream", "go.mod")) as f:
        version = re.search(r"^\tk8s\.io/kubernetes v(\S+)", f.read(), re.MULTILINE).group(1)
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    named = os.environ.get("KUBEBUILDER_ASSETS")
    return ([named] if named else []) + [os.path.join(cache, "berth", f"upstream-{version}")]


def real_binaries():
    """The folder that has etcd and kube-apiserver, or None."""
    for folder in upstream_folders():
        if all(os.access(os.path.join(folder, n), os.X_OK) for n in ("etcd", "kube-apiserver")):
            return folder
    return None


def upstream_program(name):
    """Where kube-scheduler or kubectl is: beside the real API server, in the cache, or on the PATH."""
    for folder in upstream_folders():
        path = os.path.join(folder, name)
        if os.access(path, os.X_OK):
            return path
    return shutil.which(name) if name == "kubectl" else None
