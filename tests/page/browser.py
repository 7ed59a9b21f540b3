"""Chromium, headless, driven through chromedriver (W3C WebDriver) with the standard library alone."""
import base64
import json
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

# Keys as WebDriver writes them.
KEYS = {
    "Tab": "\ue004", "Enter": "\ue007", "Shift": "\ue008", "Escape": "\ue00c", "Space": "\ue00d", "PageUp": "\ue00e",
    "PageDown": "\ue00f", "End": "\ue010", "Home": "\ue011", "ArrowLeft": "\ue012", "ArrowUp": "\ue013",
    "ArrowRight": "\ue014", "ArrowDown": "\ue015",
}
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-default-apps", "--no-default-browser-check",
    "--disable-dev-shm-usage", "--hide-scrollbars",
]


class BrowserError(Exception):
    pass


class Browser:
    """One window. `with Browser() as browser: browser.open(url)`."""

    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="berth-page-")
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0", "--log-level=SEVERE"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            self.base = f"http://127.0.0.1:{self._port()}"
            options = {"binary": "/usr/bin/chromium", "args": [*FLAGS, f"--user-data-dir={self.profile}"]}
            answer = self._call("POST", "/session", {"capabilities": {"alwaysMatch": {
                "browserName": "chrome", "goog:chromeOptions": options,
                "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}}})
            self.base += f"/session/{answer['sessionId']}"
        except BaseException:
            self._stop()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self._call("DELETE", "")
        except (BrowserError, OSError):
            pass
        self._stop()

    def _stop(self):
        self.driver.terminate()
        try:
            self.driver.wait(10)
        except subprocess.TimeoutExpired:
            self.driver.kill()
        shutil.rmtree(self.profile, ignore_errors=True)

    def _port(self):
        for line in self.driver.stdout:
            if found := re.search(r"successfully on port (\d+)", line):
                return found[1]
        raise BrowserError("chromedriver does not start")

    def _call(self, method, path, body=None):
        request = urllib.request.Request(
            self.base + path, method=method, data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # loopback, whatever the environment says
        try:
            with opener.open(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            value = json.load(error)["value"]
            raise BrowserError(f"{value['error']}: {value['message'].splitlines()[0]}") from None

    # ---- what a reader does

    def open(self, url):
        self._call("POST", "/url", {"url": url})

    def press(self, *keys):
        """Keys one after the other; "Shift+ArrowLeft" together."""
        actions = []
        for key in keys:
            parts = [KEYS.get(part, part) for part in (key.split("+") if len(key) > 1 else [key])]
            actions += [{"type": "keyDown", "value": part} for part in parts]
            actions += [{"type": "keyUp", "value": part} for part in reversed(parts)]
        self._call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def resize(self, width, height):
        self.devtools("Emulation.setDeviceMetricsOverride",
                      {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def prefer(self, scheme):
        self.devtools("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})

    # ---- what there is to see

    def run(self, script, *arguments):
        """The value of a script, `arguments[0]` its first argument."""
        return self._call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def run_async(self, script, *arguments):
        return self._call("POST", "/execute/async", {"script": script, "args": list(arguments)})

    def wait_for(self, script, seconds=10):
        """Until the script's value is true."""
        end = time.monotonic() + seconds
        while not (value := self.run(f"return {script}")):
            if time.monotonic() > end:
                raise BrowserError(f"in vain: {script}")
            time.sleep(0.02)
        return value

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0])?.innerText", selector)

    def log(self, kind):
        """"browser": what the console got. "performance": what DevTools says, as objects."""
        return self._call("POST", "/se/log", {"type": kind})

    def devtools(self, command, parameters):
        return self._call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self._call("GET", "/screenshot")))
