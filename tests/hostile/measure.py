"""What a command costs: instructions, counted by valgrind, or processor time and the most memory it had."""
import os
import re
import subprocess
import tempfile

# The environment lies on the stack: the same one each time.
ENVIRONMENT = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": "/", "LC_ALL": "C"}


class Failed(Exception):
    pass


def instructions(command, seconds=600):
    with tempfile.NamedTemporaryFile() as out:
        try:
            ran = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out.name}", *command],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT,
                                 timeout=seconds, check=False)
        except subprocess.TimeoutExpired as error:
            raise Failed(f"did not end within {seconds} s under valgrind") from error
    collected = re.search(r"Collected : (\d+)", ran.stderr)
    if ran.returncode != 0 or not collected:
        said = [line for line in ran.stderr.splitlines() if not line.startswith("==")]
        raise Failed(f"exit code {ran.returncode}: {' '.join(said)[-300:]}")
    return int(collected[1])


def peak(command, seconds=120, output=None):
    """(most bytes in memory, seconds of processor time); what it prints goes to the file `output`."""
    with tempfile.TemporaryFile() as errors, open(output or os.devnull, "wb") as out:
        process = subprocess.Popen(["timeout", "--signal=KILL", str(seconds), *command], stdout=out, stderr=errors,
                                   env=ENVIRONMENT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        said = errors.read().decode(errors="replace").strip()
    if process.returncode in (-9, 137):
        raise Failed(f"did not end within {seconds} s")
    if process.returncode != 0:
        raise Failed(f"exit code {process.returncode}: {said[-300:]}")
    return usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime
