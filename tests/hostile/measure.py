"""What a command costs: instructions, counted by valgrind, processor time, and the most memory it had."""
import dataclasses
import os
import re
import subprocess
import sys
import tempfile

# The environment lies on the stack: the same one each time.
ENVIRONMENT = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": "/", "LC_ALL": "C"}


class Failed(Exception):
    pass


@dataclasses.dataclass(frozen=True)
class Cost:
    memory: int  # bytes
    seconds: float
    instructions: int = 0  # where they are counted


class Runs:
    """The program hostile_runs (runs.cc), by itself or under valgrind. For one thread at a time."""

    def __init__(self, program, folder, counted, seconds):
        self.folder, self.counted, self.seconds = folder, counted, seconds
        command = [program, folder, str(seconds)]
        if counted:
            # Of the tools that count instructions the fastest.
            command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null",
                       f"--log-file={folder}/%p.log", *command]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=ENVIRONMENT)
        # What a process has counted before it does anything: it begins with what the program that starts it has
        # counted so far, which is `each` more with every command.
        self.before = self.each = 0

    def warm_up(self, command):
        """Once, with a small cluster, so that its code is translated and what comes before is known."""
        self.ask("here", *command)

    def begin(self):
        """After all warm_up()s."""
        self.run(["help"])  # after which every function has been found
        first, second = (self.run(["help"]).instructions for _ in range(2))
        self.each = second - first
        self.before = second + self.each

    def ask(self, *words):
        self.process.stdin.write("\t".join(words) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if len(answer) != 4:
            raise Failed("hostile_runs has ended")
        return int(answer[0]), int(answer[1]), int(answer[2]), float(answer[3])

    def run(self, command):
        pid, code, memory, seconds = self.ask(*command)
        before, self.before = self.before, self.before + self.each
        with open(f"{self.folder}/{pid}.err", encoding="utf-8", errors="replace") as file:
            said = file.read().strip()
        if code == 128 + 14:
            raise Failed(f"did not end within {self.seconds} s")
        if code != 0:
            raise Failed(f"exit code {code}: {said[-300:]}")
        if not self.counted:
            return Cost(memory, seconds)
        with open(f"{self.folder}/{pid}.log", encoding="utf-8") as file:
            counted = re.search(r"I +refs: +([\d,]+)", file.read())
        return Cost(memory, seconds, int(counted[1].replace(",", "")) - before)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


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
