"""The scheduler under test: `berth scheduler`, or any kube-scheduler by its path."""
import json
import os
import re
import signal

from .client import Client
from .process import Child, free_port, wait_until

QUICK_ELECTION = [
    "--leader-elect=true",
    "--leader-elect-lease-duration=4s",
    "--leader-elect-renew-deadline=3s",
    "--leader-elect-retry-period=500ms",
]


def command_of(program):
    """How a scheduler is called: a program of the name berth takes the subcommand."""
    if os.path.basename(program).startswith("berth"):
        return [program, "scheduler"]
    return [program]


class Scheduler:
    """One running scheduler process."""

    def __init__(self, program, name, folder, kubeconfig, config=None, flags=(), env=None):
        self.program, self.name = program, name
        self.port = free_port()
        self.url = f"https://127.0.0.1:{self.port}"
        command = command_of(program) + [
            "--bind-address=127.0.0.1",
            f"--secure-port={self.port}",
            "-v=3",
        ]
        # So that the suite may look at the metrics; the cases about access set their own.
        if not any(f.startswith("--authorization-") for f in flags):
            command.append("--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics")
        if config is None:
            command.append(f"--kubeconfig={kubeconfig}")
        else:
            command.append(f"--config={write_configuration(folder, name, kubeconfig, config)}")
        if not any(f.startswith("--leader-elect") for f in flags):
            command.append("--leader-elect=false")
        self.child = Child(name, command + list(flags), os.path.join(folder, f"{name}.log"), env)

    def endpoint(self, token=None):
        """A client of its own port."""
        return Client(self.url, token, insecure=True, accept="*/*")

    def ready(self):
        return self.endpoint().exchange("GET", "/readyz")[0] == 200

    def unready(self):
        """It answers, and says that it is not ready."""
        return self.endpoint().exchange("GET", "/readyz")[0] == 500

    def wait_ready(self, seconds=90):
        def check():
            if not self.child.running():
                raise SchedulerEnded(self)
            return self.ready()

        wait_until(f"{self.name} to be ready", check, seconds)
        return self

    def metrics(self):
        code, _, body = self.endpoint().exchange("GET", "/metrics")
        if code != 200:
            raise RuntimeError(f"/metrics answers {code}")
        return Metrics(body.decode())

    def log(self):
        return self.child.text()

    def stop(self):
        return self.child.stop()

    def kill(self):
        self.child.kill()

    def terminate(self):
        self.child.signal(signal.SIGTERM)


class SchedulerEnded(Exception):
    def __init__(self, scheduler):
        last = "\n".join(scheduler.log().splitlines()[-5:])
        super().__init__(f"{scheduler.name} ended with {scheduler.child.exit_code}: {last}")


def write_configuration(folder, name, kubeconfig, config):
    body = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        **config,
    }
    connection = dict(body.get("clientConnection") or {})
    connection.setdefault("kubeconfig", kubeconfig)
    body["clientConnection"] = connection
    path = os.path.join(folder, f"{name}.config.yaml")
    with open(path, "w") as f:
        json.dump(body, f, indent=1)
    return path


_SERIES = re.compile(r"^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$")
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"')


class Metrics:
    """A page of metrics: families with their types, series with their values."""

    def __init__(self, text):
        self.types, self.help, self.series = {}, {}, {}
        for line in text.splitlines():
            if line.startswith("# TYPE "):
                _, _, name, kind = line.split(" ", 3)
                self.types[name] = kind
            elif line.startswith("# HELP "):
                _, _, name, words = line.split(" ", 3)
                self.help[name] = words
            elif match := _SERIES.match(line):
                name, labels, value = match.groups()
                key = tuple(sorted(_LABEL.findall(labels or "")))
                self.series[(name, key)] = float(value)

    def value(self, name, /, **labels):
        """The sum over the series of that name that carry these labels; None if there is none."""
        wanted = set(labels.items())
        found = [v for (n, key), v in self.series.items() if n == name and wanted <= set(key)]
        return sum(found) if found else None

    def labels(self, family):
        """The label names that series of the family carry (le and quantile left out)."""
        names = set()
        for (name, key), _ in self.series.items():
            if name in (family, family + "_bucket", family + "_count", family + "_sum"):
                names |= {k for k, _ in key}
        return names - {"le", "quantile"}
