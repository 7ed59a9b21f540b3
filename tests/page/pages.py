"""The pages that are looked at, each made once, and what a reader does with them."""
import json
import os
import subprocess

TALLY = "Object.fromEntries([...document.querySelectorAll('[data-count]')].map((n) => [n.dataset.count, Number(n.textContent.replaceAll(',', ''))]))"


class Pages:
    """The pages, each made once, and the window that shows them."""

    def __init__(self, berth, folder, browser):
        self.berth = berth
        self.folder = folder
        self.browser = browser
        self.cluster = None  # the program that is a live cluster
        self.made = {}

    def call(self, command, *arguments):
        done = subprocess.run([self.berth, command, *arguments], capture_output=True, text=True, check=False)
        if done.returncode:
            raise AssertionError(f"berth {command}: {done.stderr}")
        return done.stdout

    def simulate(self, *arguments):
        return self.call("simulate", *arguments)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def page(self, name, *arguments, command="simulate"):
        if name not in self.made:
            self.made[name] = self.write(f"{name}.html", self.call(command, *arguments, "-o", "html"))
        return self.made[name]

    def show(self, path, **how):
        return self.show_url(f"file://{path}", **how)

    def show_url(self, url, width=1280, height=800, scheme="light"):
        self.browser.resize(width, height)
        self.browser.prefer(scheme)
        self.browser.open(url)
        self.browser.wait_for("document.documentElement.dataset.ready !== undefined")
        self.settle()
        return self.browser

    def settle(self):
        """Until all that a key has changed is drawn."""
        self.browser.run_async("requestAnimationFrame(() => requestAnimationFrame(arguments[arguments.length - 1]))")

    def press(self, *keys):
        self.browser.press(*keys)
        self.settle()

    def point_at(self, selector, right, down):
        """With the pointer, so far from the corner of an element."""
        left, top = self.browser.run("const element = document.querySelector(arguments[0]); element.scrollIntoView({ block: 'center' });"
                                     "const edges = element.getBoundingClientRect(); return [edges.left, edges.top]", selector)
        self.browser.devtools("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": left + right, "y": top + down})
        self.settle()

    def tally(self):
        return self.browser.run(f"return {TALLY}")

    def tab_to(self, selector, most=80, back=False):
        """With the Tab key alone."""
        for _ in range(most):
            if self.browser.run("return document.activeElement?.matches(arguments[0])", selector):
                return
            self.browser.press("Shift+Tab" if back else "Tab")
        raise AssertionError(f"{most} times Tab do not lead to {selector}")

    def complaints(self):
        """What the console has got and what was asked of anybody, since this was last called."""
        found = [entry["message"] for entry in self.browser.log("browser")]
        for entry in self.browser.log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url, asker = message["params"]["request"]["url"], message["params"]["documentURL"]
                if asker.startswith("file:") and not url.startswith((f"file://{self.folder}/", "data:")):
                    found.append(f"request for {url[:200]}")
        return found


def expect(found, wanted, what):
    if found != wanted:
        raise AssertionError(f"{what}: {found!r} instead of {wanted!r}")
