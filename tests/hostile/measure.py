"""What a command costs: instructions, counted by valgrind, or processor time and the most memory it had."""
import os
import re
import subprocess
import sys
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


def peak(command, seconds=120, output=os.devnull):
    """(most bytes in memory, seconds of processor time); what it prints goes to the file `output`."""
    # A process begins with the memory of the one that starts it as its most: that must be a small one.
    ran = subprocess.run([sys.executable, "-S", "-B", os.path.abspath(__file__), str(seconds), output, *command],
                         capture_output=True, text=True, env=ENVIRONMENT, check=False)
    if ran.returncode != 0:
        raise Failed(ran.stderr.strip()[-300:])
    memory, spent = ran.stdout.split()
    return int(memory), float(spent)


def run_measured(seconds, output, command):
    """Prints bytes and seconds; the error is what the command said, or that it took too long."""
    with tempfile.TemporaryFile() as errors, open(output, "wb") as out:
        process = subprocess.Popen(["timeout", "--signal=KILL", seconds, *command], stdout=out, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        said = errors.read().decode(errors="replace").strip()
    if process.returncode in (-9, 137):
        sys.exit(f"did not end within {seconds} s")
    if process.returncode != 0:
        sys.exit(f"exit code {process.returncode}: {said[-250:]}")
    print(usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime)


if __name__ == "__main__":
    run_measured(sys.argv[1], sys.argv[2], sys.argv[3:])
