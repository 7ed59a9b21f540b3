"""Children: started with a log of their own, stopped or killed by hand, never left behind."""
import os
import random
import shutil
import signal
import socket
import subprocess
import threading
import time

# Where the system has it, a child dies with the thread that started it, even when the suite itself is
# killed. Each lane starts and ends its children on its own thread.
_LEASH = [shutil.which("setpriv"), "--pdeathsig", "KILL", "--"] if shutil.which("setpriv") else []


# Below the ports that the system gives to connections, which could take one before its program listens.
_PORTS = range(20000, 32000)
_given = set()
_giving = threading.Lock()


def free_port():
    """A port of the loopback address that nobody listens on at this moment, and another one each time."""
    with _giving:
        while True:
            port = random.choice(_PORTS)
            if port in _given:
                continue
            with socket.socket() as s:
                try:
                    s.bind(("127.0.0.1", port))
                except OSError:
                    continue
            _given.add(port)
            return port


def tail(path, lines=40):
    try:
        with open(path, "rb") as f:
            f.seek(0, os.SEEK_END)
            f.seek(max(0, f.tell() - 400 * lines))
            return "\n".join(f.read().decode(errors="replace").splitlines()[-lines:])
    except OSError as error:
        return f"({error})"


class Child:
    """A program that runs beside the suite; stdout and stderr go to one log."""

    def __init__(self, name, command, log, env=None):
        self.name = name
        self.command = command
        self.log = log
        with open(log, "ab") as out:
            out.write(("$ " + " ".join(command) + "\n").encode())
            out.flush()
            self._popen = subprocess.Popen(
                _LEASH + command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(env or {})},
            )

    @property
    def pid(self):
        return self._popen.pid

    @property
    def exit_code(self):
        """None while it runs; negative when a signal ended it."""
        return self._popen.poll()

    def running(self):
        return self._popen.poll() is None

    def text(self):
        with open(self.log, "rb") as f:
            return f.read().decode(errors="replace")

    def signal(self, number):
        if self.running():
            self._popen.send_signal(number)

    def pause(self):
        self.signal(signal.SIGSTOP)

    def resume(self):
        self.signal(signal.SIGCONT)

    def wait(self, seconds):
        """The exit code, or None if it still runs after that long."""
        try:
            return self._popen.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def kill(self):
        self.signal(signal.SIGKILL)
        self._popen.wait()

    def stop(self, seconds=20):
        """Asks it to go, insists when it does not; the exit code."""
        self.resume()
        self.signal(signal.SIGTERM)
        if self.wait(seconds) is None:
            self.kill()
        return self._popen.returncode


def wait_until(what, check, seconds=60, step=0.03):
    """Calls `check` until it returns something true, which is the answer.

    An exception of `check` counts as "not yet". `what` says what was waited for.
    """
    deadline = time.monotonic() + seconds
    last = None
    while True:
        try:
            answer = check()
            if answer:
                return answer
            last = None
        except (OSError, ValueError, KeyError, IndexError, AssertionError, RuntimeError) as error:
            last = error
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds} s for: {what}" + (f" ({last})" if last else ""))
        time.sleep(step)
