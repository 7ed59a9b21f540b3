"""The live page in Chromium: `berth run` with pods that wait at Permit (page_cluster.cc), asked as kubectl asks it."""
import json
import re
import socket
import subprocess
import time
import urllib.error
import urllib.request

from pages import expect

CONFIGURATION = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins: {permit: {enabled: [{name: Hold}]}}
"""
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # loopback, whatever the environment says


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Cluster:
    """A cluster in a process of its own. `with Cluster(pages) as cluster: cluster.node("n1")`."""

    def __init__(self, pages):
        self.program = pages.cluster
        self.configuration = pages.write("hold.yaml", CONFIGURATION)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        self.process = subprocess.Popen([self.program, f"127.0.0.1:{self.port}", self.configuration],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 30
        while True:
            try:
                self.call("GET", "/version")
                return
            except OSError:
                if time.monotonic() > end or self.process.poll() is not None:
                    raise AssertionError("the cluster does not start") from None
                time.sleep(0.05)

    def stop(self):
        if self.process is None:
            return
        self.process.terminate()
        self.process.wait(30)
        self.process = None

    def call(self, method, path, body=None):
        content = "application/merge-patch+json" if method == "PATCH" else "application/json"
        request = urllib.request.Request(self.url + path, method=method, data=None if body is None else json.dumps(body).encode(),
                                         headers={"Content-Type": content})
        with OPENER.open(request, timeout=30) as answer:
            return json.load(answer)

    def node(self, name, cpu="4", zone="a", **more):
        self.call("POST", "/api/v1/nodes", {
            "metadata": {"name": name, "labels": {"topology.kubernetes.io/zone": zone}},
            "status": {"capacity": {"cpu": cpu, "memory": "8Gi", "pods": "20", **more}}})

    def pod(self, name, cpu="1", **labels):
        self.call("POST", "/api/v1/namespaces/default/pods", {
            "metadata": {"name": name, "labels": labels},
            "spec": {"containers": [{"name": "c", "image": "c", "resources": {"requests": {"cpu": cpu}}}]}})

    def is_bound(self, name):
        return "nodeName" in self.call("GET", f"/api/v1/namespaces/default/pods/{name}")["spec"]


def show(pages, cluster, **how):
    browser = pages.show_url(f"{cluster.url}/ui/", **how)
    browser.wait_for("document.getElementById('link').textContent === 'live'")
    return browser


def wait_for_tally(pages, seconds=15, **wanted):
    """Until the head of the page says so."""
    end = time.monotonic() + seconds
    while any(pages.tally().get(name, 0) != value for name, value in wanted.items()):
        if time.monotonic() > end:
            raise AssertionError(f"{pages.tally()} never becomes {wanted}")
        time.sleep(0.05)


def choose_pod(pages, name):
    pages.browser.run("document.getElementById('tab-pod').click()")
    pages.tab_to("#find-pod")
    pages.press(*name, "Enter")
    pages.browser.wait_for(f"document.getElementById('pod-name')?.textContent === 'default/{name}'")


# ---- the cases


def a_live_page_shows_what_is_there_and_asks_nobody_else(pages):
    pages.complaints()
    with Cluster(pages) as cluster:
        for index in range(3):
            cluster.node(f"n{index}", zone="ab"[index % 2])
        for index in range(5):
            cluster.pod(f"p{index}")
        browser = show(pages, cluster)
        wait_for_tally(pages, nodes=3, bound=5, pending=0)
        expect(browser.run("return document.getElementById('time').hidden"), False, "the time line is hidden")
        expect(browser.run("return document.getElementById('group').value"), "topology.kubernetes.io/zone", "the grouping")
        for tab in ("decisions", "node", "pod", "queues"):
            browser.run("document.getElementById(arguments[0]).click()", f"tab-{tab}")
        expect(browser.run("return performance.getEntriesByType('resource').filter(({ name }) => !name.startsWith(location.origin)).length"),
               0, "requests to others")
        expect(browser.run_async("const done = arguments[arguments.length - 1];"
                                 "fetch('http://127.0.0.1:9/').then(() => done('sent'), () => done('refused'))"), "refused", "a request to another")
        complaints = [text for text in pages.complaints() if "127.0.0.1:9/" not in text]
        expect(complaints, [], "complaints")


def a_live_page_follows_what_happens(pages):
    with Cluster(pages) as cluster:
        browser = show(pages, cluster)
        wait_for_tally(pages, nodes=0, bound=0)
        cluster.node("n1", **{"example.com/gpu": "4"})
        wait_for_tally(pages, nodes=1)
        expect(browser.run("return [...document.getElementById('resource').options].map(({ text }) => text)"),
               ["cpu", "memory", "pods", "example.com/gpu"], "what can be chosen to fill the tiles")
        cluster.pod("small")
        cluster.pod("large", cpu="9")
        wait_for_tally(pages, bound=1, pending=1)
        text = browser.text("#panel-queues")
        for words in ("Unschedulable", "default/large", "Insufficient cpu"):
            assert words in text, f"the queues say nothing of {words}"
        cluster.call("DELETE", "/api/v1/namespaces/default/pods/large")
        wait_for_tally(pages, pending=0)
        cluster.node("n2", cpu="16")
        wait_for_tally(pages, nodes=2)
        cluster.call("DELETE", "/api/v1/nodes/n2")
        wait_for_tally(pages, nodes=1)
        browser.run("document.getElementById('tab-decisions').click()")
        pages.settle()
        text = browser.text("#panel-decisions")
        for words in ("default/small", "is on n1", "n2", "node removed"):
            assert words in text, f"the decisions say nothing of {words}"
        assert re.search(r"\d\d:\d\d:\d\d", text), "no time of day"


def a_node_and_a_pod_of_a_live_page_are_chosen(pages):
    with Cluster(pages) as cluster:
        cluster.node("n1")
        cluster.pod("web")
        cluster.pod("large", cpu="9")
        browser = show(pages, cluster)
        wait_for_tally(pages, bound=1, pending=1)
        pages.tab_to("#tiles")
        pages.press("ArrowRight", "Enter")
        expect(browser.text("#node-name"), "n1", "the node")
        expect(browser.run("return [...document.querySelectorAll('#panel-node .pods .link')].map((link) => link.textContent)"),
               ["default/web"], "pods on it")
        choose_pod(pages, "large")
        # What stands there without /explain is a line that says so.
        browser.wait_for("(document.querySelector('#panel-pod .explanation')?.textContent ?? 'asked why').includes('asked why') === false")
        facts = browser.text("#panel-pod .facts")
        for words in ("unschedulable", "Insufficient cpu", "cpu 9"):
            assert words in facts, f"the pod's facts say nothing of {words}"


def pods_at_permit_are_allowed_and_rejected(pages):
    with Cluster(pages) as cluster:
        cluster.node("n1")
        for name in ("one", "two", "three"):
            cluster.pod(name, hold="yes")
        browser = show(pages, cluster)
        wait_for_tally(pages, waiting=3)
        assert "held by Hold" in browser.text("#panel-queues"), "who holds them"
        pages.tab_to("[aria-label='Allow default/two']")
        pages.press("Enter")
        wait_for_tally(pages, waiting=2, bound=1)
        expect((cluster.is_bound("two"), cluster.is_bound("one")), (True, False), "two and one are bound")
        choose_pod(pages, "three")
        browser.run("document.querySelector('#panel-pod .reject').click()")
        browser.wait_for("document.querySelector('#panel-pod .stream').textContent.includes('rejected by a user of berth run')")
        # It is tried again, and held again.
        wait_for_tally(pages, waiting=2)
        expect(browser.run("return document.querySelectorAll('#panel-pod .allow').length"), 1, "buttons to allow it")


def a_live_page_goes_back_and_to_the_present_again(pages):
    with Cluster(pages) as cluster:
        cluster.node("n1", cpu="8")
        browser = show(pages, cluster)
        pages.complaints()  # the page before this one may have asked a cluster that is gone
        wait_for_tally(pages, nodes=1)
        for index in range(3):
            cluster.pod(f"p{index}")
            wait_for_tally(pages, bound=index + 1)
        cluster.pod("held", hold="yes")
        wait_for_tally(pages, waiting=1)
        pages.tab_to("#rail")
        pages.press("Home")
        wait_for_tally(pages, nodes=1, bound=0, waiting=0)
        expect(browser.text("#link"), "in the past", "the state of the page")
        cluster.pod("later")
        begun = browser.run("return document.getElementById('rail').getAttribute('aria-valuetext')")
        browser.wait_for(f"document.getElementById('rail').getAttribute('aria-valuetext') !== {json.dumps(begun)}")
        wait_for_tally(pages, bound=0)  # what happens meanwhile is not shown
        # Change by change, with nothing but keys.
        seen = []
        for _ in range(100):
            pages.press(".")
            tally = pages.tally()
            seen.append((tally["bound"], tally.get("waiting", 0)))
            if seen[-1] == (3, 1):
                break
        expect(sorted(set(seen)), [(0, 0), (1, 0), (2, 0), (3, 0), (3, 1)], "what there was on the way")
        expect(browser.run("return document.querySelectorAll('.permit').length"), 0, "buttons for what has been")
        pages.tab_to("#to-now", back=True)
        pages.press("Enter")
        wait_for_tally(pages, bound=4, waiting=1)
        expect(browser.text("#link"), "live", "the state of the page")
        expect(browser.run("return document.getElementById('to-now').hidden"), True, "the way to the present is hidden")
        browser.wait_for("document.querySelectorAll('.permit').length === 1")
        # From a decision to its moment.
        browser.run("document.getElementById('tab-decisions').click()")
        pages.settle()
        browser.run("[...document.querySelectorAll('#panel-decisions li')].findLast((line) => line.textContent.includes('is on')).querySelector('.moment').click()")
        wait_for_tally(pages, bound=1, waiting=0)
        choose_pod(pages, "p0")
        assert "not how they were" in browser.text("#panel-pod"), "an explanation of the past"
        expect(pages.complaints(), [], "complaints")


def a_live_page_forgets_what_is_long_ago(pages):
    most, wave, waves = 50000, 2000, 7
    with Cluster(pages) as cluster:
        browser = show(pages, cluster)
        for index in range(wave * waves // 100):
            cluster.node(f"n{index:03}", cpu="1000", pods="100")
        wait_for_tally(pages, nodes=wave * waves // 100)
        cluster.call("POST", "/apis/apps/v1/namespaces/default/deployments", {
            "metadata": {"name": "many"}, "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "many"}}, "template": {
                "metadata": {"labels": {"app": "many"}},
                "spec": {"containers": [{"name": "c", "image": "c", "resources": {"requests": {"cpu": "1m"}}}]}}}})
        lengths = []
        for number in range(1, waves + 1):
            cluster.call("PATCH", "/apis/apps/v1/namespaces/default/deployments/many", {"spec": {"replicas": number * wave}})
            wait_for_tally(pages, seconds=120, bound=number * wave, pending=0)
            text = browser.run("return document.getElementById('rail').getAttribute('aria-valuetext')")
            lengths.append(int(re.search(r"change (\d+) of", text)[1]))
        assert max(lengths) <= most, f"{lengths} changes are kept"
        assert any(later < before for before, later in zip(lengths, lengths[1:])), f"{lengths}: nothing was forgotten"
        pages.tab_to("#rail")
        pages.press("Home")
        tally = pages.tally()
        assert 0 < tally["bound"] < wave * waves, f"{tally} at the first moment that is known"
        pages.press("End")
        wait_for_tally(pages, bound=wave * waves, pending=0, preempted=0)
        expect(browser.run("return document.querySelector('#counts .nodes dd').textContent"), "140", "nodes")


def a_live_page_finds_a_scheduler_that_began_anew(pages):
    with Cluster(pages) as cluster:
        for index in range(3):
            cluster.node(f"old-{index}")
        cluster.pod("old")
        browser = show(pages, cluster)
        wait_for_tally(pages, nodes=3, bound=1)
        cluster.stop()
        browser.wait_for("document.documentElement.dataset.link === 'lost'")
        assert "does not answer" in browser.text("#link"), "what is lost"
        wait_for_tally(pages, nodes=3, bound=1)  # what was known is still shown
        cluster.start()
        cluster.node("new")
        browser.wait_for("document.documentElement.dataset.link === 'live'", seconds=20)
        wait_for_tally(pages, nodes=1, bound=0)
        cluster.pod("fresh")
        wait_for_tally(pages, bound=1)
        pages.complaints()  # the console has the requests that nobody answered


def berth_ui_shows_it_to_one_browser(pages):
    with Cluster(pages) as cluster:
        cluster.node("n1")
        cluster.pod("held", hold="yes")
        proxy = subprocess.Popen([pages.berth, "ui", "--server", cluster.url], stdout=subprocess.PIPE, text=True)
        try:
            link = proxy.stdout.readline().strip()
            browser = pages.show_url(link)
            wait_for_tally(pages, nodes=1, waiting=1)
            expect(browser.run("return document.cookie"), "", "the cookie that scripts see")
            try:
                OPENER.open(link, timeout=10)
                raise AssertionError("the link works twice")
            except urllib.error.HTTPError as refusal:
                expect(refusal.code, 403, "the link, used again")
            browser.run("document.querySelector('.allow').click()")
            wait_for_tally(pages, bound=1, waiting=0)
        finally:
            proxy.terminate()
            expect(proxy.wait(20), 0, "the exit code of berth ui")


def a_live_page_fits_a_narrow_window(pages):
    with Cluster(pages) as cluster:
        cluster.node("a-node-with-a-name-that-is-rather-long")
        cluster.pod("held", hold="yes")
        cluster.pod("large", cpu="9")
        browser = show(pages, cluster, width=400, height=800)
        wait_for_tally(pages, waiting=1, pending=1)
        for tab in ("queues", "decisions", "node", "pod"):
            browser.run("document.getElementById(arguments[0]).click()", f"tab-{tab}")
            pages.settle()
            width = browser.run("return document.documentElement.scrollWidth")
            assert width <= 400, f"{tab}: {width} pixels"


CASES = [
    a_live_page_shows_what_is_there_and_asks_nobody_else,
    a_live_page_follows_what_happens,
    a_node_and_a_pod_of_a_live_page_are_chosen,
    pods_at_permit_are_allowed_and_rejected,
    a_live_page_goes_back_and_to_the_present_again,
    a_live_page_forgets_what_is_long_ago,
    a_live_page_finds_a_scheduler_that_began_anew,
    berth_ui_shows_it_to_one_browser,
    a_live_page_fits_a_narrow_window,
]
