"""The README's kubectl commands, typed as they stand there, against `berth run`."""
import os
import shlex
import signal
import subprocess
import sys

from harness.process import Child, free_port, wait_until
from harness.registry import case

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(TOP, "scripts"))

from check_documents import shown  # noqa: E402


@case(needs=("berth", "kubectl"), servers=("embedded",), compare=False)
def does_what_it_shows(w):
    config = os.path.join(w.folder, "tour.conf")
    command = [w.programs.berth, "run", "--listen", f"127.0.0.1:{free_port()}", "--write-kubeconfig", config]
    cluster = Child("berth run", command, os.path.join(w.folder, "run.log"))
    w.at_end(cluster.stop)
    wait_until("the kubeconfig", lambda: os.path.exists(config))
    env = {"PATH": os.environ["PATH"], "HOME": w.folder, "KUBECONFIG": config}
    with open(os.path.join(TOP, "README.md"), encoding="utf-8") as readme:
        tour = list(shown(readme.read(), "kubectl"))
    assert tour, "the README shows no kubectl command"
    for line, expected in tour:
        arguments = shlex.split(line)[1:]
        ran = subprocess.run(
            [w.programs.kubectl, *arguments], capture_output=True, text=True, env=env, cwd=TOP, timeout=60
        )
        assert ran.stdout.rstrip("\n").endswith(expected), f"{line}\n{ran.stdout}{ran.stderr}"
    cluster.signal(signal.SIGINT)
    assert cluster.wait(20) == 0, cluster.text()
