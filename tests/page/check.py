#!/usr/bin/env python3
"""Opens pages that berth has written in Chromium and looks whether they say what the data says.

    check.py --berth PROGRAM [--cluster page_cluster] [--filter PART-OF-A-NAME]

Without page_cluster (page_cluster.cc) nothing live is looked at.

The last line is the sum. How long a frame takes at 5,000 nodes is printed, and nothing is asserted about it.
"""
import argparse
import json
import os
import re
import sys
import tempfile
import traceback

import large
import live
from browser import Browser
from pages import Pages, expect

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
JOURNEY = ["-f", f"{ROOT}/examples/journey/pods.yaml", "--scenario", f"{ROOT}/examples/journey/scenario.yaml"]
TOUR = ["-f", f"{ROOT}/examples/tour/web.yaml", "--scenario", f"{ROOT}/examples/tour/scenario.yaml"]
NODES = ["-f", f"{ROOT}/examples/nodes-cluster.yaml", "--scenario", f"{ROOT}/examples/nodes.yaml"]
DATA = re.compile(r'(<script type="application/json" id="data">)(.*?)(</script>)', re.S)

EVIL = "</script><script>window.taken = 1</script><!-- <img src=x onerror=window.taken=1>"
EVIL_MANIFESTS = {"kind": "List", "apiVersion": "v1", "items": [
    {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "labels": {"note": EVIL}},
     "status": {"capacity": {"cpu": "4", "pods": "10"}}},
    {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p1", "labels": {"note": EVIL}},
     "spec": {"schedulingGates": [{"name": EVIL}], "containers": [{"name": "c", "image": "c"}]}}]}

EXPLANATION = {
    "pod": "shop/db-2", "verdict": "Unschedulable", "message": "0/3 nodes are available.",
    "rejections": [
        {"nodes": ["big-1", "big-2"], "plugins": [
            {"plugin": "NodeResourcesFit", "code": "InsufficientResource", "reason": "Insufficient cpu",
             "text": "needs 3 cpu, 1250m free of 8"}]},
        {"nodes": ["gpu-1"], "plugins": [
            {"plugin": "NodeResourcesFit", "code": "InsufficientResource", "reason": "Insufficient cpu"},
            {"plugin": "TaintToleration", "code": "UntoleratedTaint", "reason": "node(s) had untolerated taint(s)",
             "subject": "gpu=true:NoSchedule"}]}],
    "suggestions": [{"code": "RequestLess", "summary": "request 1750m cpu instead of 3", "cost": 1.5, "nodes": ["big-1"],
                     "commands": ["kubectl -n shop set resources statefulset/db --requests=cpu=1750m"]}],
    "wakes": {"NodeResourcesFit": ["Node/Add", "Pod/Delete"]},
}

# What is too faint or too small to be read: the text, its size, its contrast.
UNREADABLE = r"""
const parse = (text) => (text.match(/[\d.]+/g) ?? []).map(Number);
const light = ([r, g, b]) => [r, g, b].map((value) => value / 255)
  .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
  .reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index], 0);
const behind = (element) => {
  for (let at = element; at; at = at.parentElement) {
    const colour = parse(getComputedStyle(at).backgroundColor);
    if (colour.length === 3 || colour[3] === 1) return colour;
  }
  return [255, 255, 255];
};
const found = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const text = walker.currentNode.textContent.trim();
  const element = walker.currentNode.parentElement;
  if (text === '' || !element.checkVisibility({ checkVisibilityCSS: true }) || element.closest('script, .unseen, .skip, datalist')) continue;
  const style = getComputedStyle(element);
  const [a, b] = [light(parse(style.color)), light(behind(element))];
  const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  const size = parseFloat(style.fontSize);
  if (size < 12 || contrast < 4.5) found.push(`${text.slice(0, 40)} (${element.className}): ${size}px, ${contrast.toFixed(2)}`);
}
return found;
"""

# Milliseconds from a key until all that it changes is drawn, for each of many keys: the wait for the next frame (up to
# 16.7 ms) and the work in it.
FRAMES = r"""
const done = arguments[arguments.length - 1];
const [key, times] = arguments;
const rail = document.getElementById('rail');
const measured = [];
const next = () => {
  if (measured.length === times) { done(measured); return; }
  const begin = performance.now();
  rail.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
  requestAnimationFrame(() => {
    const channel = new MessageChannel();  // after what the frame draws
    channel.port1.onmessage = () => { measured.push(performance.now() - begin); next(); };
    channel.port2.postMessage(0);
  });
};
next();
"""

def journey(pages):
    return pages.page("journey", *JOURNEY)


# ---- the cases


def loads_without_complaints_and_without_requests(pages):
    pages.complaints()
    browser = pages.show(journey(pages))
    browser.run("for (const name of ['decisions', 'node', 'pod', 'queues']) document.getElementById(`tab-${name}`).click()")
    pages.settle()
    expect(pages.complaints(), [], "complaints")


def the_policy_forbids_other_scripts(pages):
    browser = pages.show(journey(pages))
    browser.run("const s = document.createElement('script'); s.textContent = 'window.taken = 1'; document.body.append(s)")
    expect(browser.run("return window.taken ?? null"), None, "an inline script that is not the page's")
    expect(browser.run_async("const done = arguments[arguments.length - 1];"
                             "fetch('http://127.0.0.1:9/').then(() => done('sent'), () => done('refused'))"), "refused", "a request")
    assert any("Content Security Policy" in text for text in pages.complaints()), "the policy has refused nothing"


def shows_at_the_end_what_the_report_says(pages):
    report = json.loads(pages.simulate(*JOURNEY, "-o", "json"))
    stands = [pod["status"] for pod in report["pods"]]
    pages.show(journey(pages))
    shown = pages.tally()
    for status in ("Bound", "Pending", "Waiting", "Gated", "Finished"):
        expect(shown[status.lower()], stands.count(status), status)
    expect(shown["nodes"], 320, "nodes")


def shows_nothing_bound_at_the_beginning(pages):
    browser = pages.show(journey(pages))
    pages.tab_to("#rail")
    pages.press("Home")
    shown = pages.tally()
    expect((shown["nodes"], shown["bound"]), (320, 0), "nodes and bound pods at the beginning")
    expect(browser.text("#clock"), "0s", "the clock")


def changes_in(path):
    with open(path, encoding="utf-8") as file:
        return json.loads(DATA.search(file.read())[2])["history"]["changes"]


def sums_after(changes, position):
    """How many nodes, pods on nodes and pods before that there are after so many changes, counted without the page's
    help."""
    pods, nodes = {}, {}
    for change in changes[:position]:
        if change["what"] in ("created", "bound", "terminating", "finished", "deleted"):
            pods[change["pod"]] = change["what"]
        elif change["what"].startswith("node"):
            nodes[change["node"]] = change["what"] != "nodeRemoved"
    stands = list(pods.values())
    return sum(nodes.values()), stands.count("bound"), stands.count("created")


def expect_sums(pages, changes):
    """What is shown at this moment. Returns it, and the moment."""
    position = int(re.search(r"change (\d+) of", pages.browser.run("return document.getElementById('rail').ariaValueText"))[1])
    shown = pages.tally()
    sums = shown["nodes"], shown["bound"], shown["pending"] + shown["waiting"] + shown["gated"]
    expect(sums, sums_after(changes, position), f"nodes, bound and pending pods after change {position}")
    return sums, position


def moving_in_time_changes_the_state(pages):
    changes = changes_in(journey(pages))
    browser = pages.show(journey(pages))
    pages.tab_to("#rail")
    pages.press("Home")
    seen = set()
    for _ in range(21):
        seen.add(expect_sums(pages, changes)[0])
        pages.press(*["ArrowRight"] * 5)
    assert len(seen) > 4, f"nodes and bound pods are never others than {seen}"
    expect(browser.run("return Number(document.getElementById('rail').ariaValueNow)"), 100, "the slider's value at the end")


def tiles_are_drawn_as_time_moves(pages):
    browser = pages.show(pages.page("tour", *TOUR))
    pages.tab_to("#rail")
    drawn = {}
    for key in ("End", "Home", "End", "Home"):
        pages.press(key)
        drawn.setdefault(key, set()).add(browser.run("return document.querySelector('#tiles canvas').toDataURL()"))
    expect([len(drawn["Home"]), len(drawn["End"])], [1, 1], "pictures of the beginning and of the end")
    assert drawn["Home"] != drawn["End"], "the beginning looks like the end"


def steps_go_back_and_on(pages):
    path = pages.page("nodes", *NODES)
    changes = changes_in(path)
    browser = pages.show(path)
    browser.run("document.getElementById('tiles').focus()")
    pages.press("ArrowRight")
    tile = {}
    pages.tab_to("#rail", back=True)
    position = len(changes)
    while True:
        tile[position] = browser.text("#tile-now")
        pages.press("Shift+ArrowLeft")
        before, position = position, expect_sums(pages, changes)[1]
        if position == before:
            break
    assert len(set(tile.values())) > 2, f"the tile never changes: {set(tile.values())}"
    while position < len(changes):
        expect(browser.text("#tile-now"), tile[position], f"the tile after change {position}, on the way back")
        pages.press("Shift+ArrowRight")
        position = expect_sums(pages, changes)[1]


def playing_moves_and_stops(pages):
    browser = pages.show(journey(pages))
    pages.tab_to("#rail")
    pages.press("Home")
    pages.press("Space")
    browser.wait_for("document.getElementById('play').getAttribute('aria-pressed') === 'true'")
    browser.wait_for("Number(document.getElementById('rail').getAttribute('aria-valuenow')) > 1")
    pages.press("Space")
    expect(browser.run("return document.getElementById('play').getAttribute('aria-pressed')"), "false", "playing")


def a_node_and_a_pod_are_chosen_with_the_keyboard(pages):
    report = json.loads(pages.simulate(*TOUR, "-o", "json"))
    browser = pages.show(pages.page("tour", *TOUR))
    pages.tab_to("#tiles")
    pages.press("ArrowLeft", "ArrowRight", "Enter")
    node = browser.text("#node-name")
    expect(node, "reserved", "the second node")
    there = sorted(f"{pod['namespace']}/{pod['name']}" for pod in report["pods"] if pod.get("node") == node)
    expect(sorted(browser.run("return [...document.querySelectorAll('#panel-node .pods .link')].map((link) => link.textContent)")),
           there, f"pods on {node}")
    assert browser.text("#tile-now").startswith(f"{node}:"), "the tile's name"
    pages.tab_to("#panel-node .pods .link")
    pages.press("Enter")
    expect(browser.text("#pod-name"), there[0], "the pod's name")
    assert f"is on {node}" in browser.text("#panel-pod .stream"), "its story says where it is bound"
    expect(browser.run("return document.querySelectorAll('.explanation').length"), 0, "explanations where the data has none")


def a_pod_is_found_by_its_name(pages):
    browser = pages.show(journey(pages))
    pages.tab_to("#tab-queues")
    pages.press("End")
    pages.tab_to("#find-pod")
    pages.press(*"lab/giant", "Enter")
    expect(browser.text("#pod-name"), "lab/giant", "the pod's name")
    assert "Insufficient" in browser.text("#panel-pod .facts"), "why it is pending"


def queues_say_who_waits_and_why(pages):
    browser = pages.show(journey(pages))
    text = browser.text("#panel-queues")
    for words in ("Unschedulable", "lab/giant", "Insufficient", "Gated", "shop/never-ready"):
        assert words in text, f"the queues say nothing of {words}"


def names_are_text_and_nothing_else(pages):
    manifests = pages.write("evil.json", json.dumps(EVIL_MANIFESTS))
    browser = pages.show(pages.page("evil", "-f", manifests))
    browser.run("document.getElementById('tiles').focus()")
    pages.press("Enter")
    assert EVIL in browser.text("#panel-node"), "the label is not shown as it is"
    browser.run("document.getElementById('tab-queues').click()")
    pages.settle()
    assert EVIL in browser.text("#panel-queues"), "the gate is not shown as it is"
    expect(browser.run("return window.taken ?? null"), None, "what a name has run")
    expect(pages.complaints(), [], "complaints")


def an_explanation_is_shown(pages):
    with open(journey(pages), encoding="utf-8") as file:
        html = file.read()
    for name, with_history in (("explained", True), ("explained_alone", False)):
        data = json.loads(DATA.search(html)[2]) if with_history else {"title": "db"}
        data["explanations"] = [EXPLANATION]
        text = json.dumps(data).replace("<", "\\u003c")
        browser = pages.show(pages.write(f"{name}.html", DATA.sub(lambda m: m[1] + text + m[3], html)))
        shown = browser.text("#panel-pod")
        for words in ("shop/db-2", "needs 3 cpu, 1250m free of 8", "gpu=true:NoSchedule", "request 1750m cpu instead of 3",
                      "kubectl -n shop set resources", "Node/Add"):
            assert words in shown, f"{name}: {words} is not shown"
        expect(browser.run("return [...document.querySelectorAll('.matrix thead th')].map((cell) => cell.textContent)"),
               ["nodes", "NodeResourcesFit", "TaintToleration"], "columns")
        pages.tab_to(".copy")
        expect(browser.run("return document.getElementById('time').hidden"), not with_history, "the time line is hidden")
        expect(pages.complaints(), [], "complaints")


def a_comparison_is_shown(pages):
    sides = ["--config", "default", "--config", f"{ROOT}/examples/sweep/packing.yaml"]
    said = json.loads(pages.call("compare", *sides, *JOURNEY, "-o", "json"))["runs"]
    browser = pages.show(pages.page("comparison", *sides, *JOURNEY, command="compare"))
    cells = "[...document.querySelectorAll('#comparison tr')].map((row) => [...row.children].map((cell) => cell.textContent))"
    now = {row[0]: row[1:] for row in browser.run(f"return {cells}")}
    expect([int(text.replace(",", "")) for text in now["Pending pods"]],
           [run["figures"]["pods"]["pending"] for run in said], "pending at the end")
    tiles = ("return [...document.querySelectorAll('.side')].map((side) => [side.querySelector('figcaption').textContent,"
             " side.querySelector('.side-said').textContent])")
    nodes = [run["figures"]["nodes"] for run in said]
    expect(browser.run(tiles), [[run["side"], f"{each['used']['end']} of {each['all']} nodes used"] for run, each in zip(said, nodes)],
           "the sides' tiles at the end")
    pages.point_at(".side canvas", 5, 5)
    texts = [text for _, text in browser.run(tiles)]
    name = texts[0].split(":")[0]
    assert all(text.startswith(f"{name}: cpu ") for text in texts), f"of the node that the pointer is on they say {texts}"
    moved = said[1]["difference"]["moved"]
    later = "return document.querySelectorAll('.moved [data-at].later').length"
    expect(browser.run("return document.querySelectorAll('.moved [data-at]').length"), len(moved), "pods that moved")
    expect(browser.run(later), 0, "of them later than the end")
    browser.run("const at = document.querySelector('.moment'); at.value = 0; at.dispatchEvent(new Event('input'))")
    pages.settle()
    expect(browser.run(later), len(moved), "of them later than the beginning")
    pages.point_at("#title", 5, 5)
    expect([text for _, text in browser.run(tiles)], [f"0 of {each['all']} nodes used" for each in nodes], "tiles at the beginning")
    expect(browser.run("return document.querySelectorAll('#comparison .plot canvas').length"), 5, "plots")
    expect(pages.complaints(), [], "complaints")


def fragmentation_is_what_is_free_where_the_commonest_pod_does_not_fit(pages):
    def pod(name, **spec):
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
                "spec": {"containers": [{"name": "c", "image": "c", "resources": {"requests": {"cpu": "3"}}}], **spec}}

    def node(name, cpu, **spec):
        return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "spec": spec,
                "status": {"capacity": {"cpu": cpu, "pods": "10"}}}

    # Of 10 cpu that are free 2 are on nodes without room for another pod; a cordoned node does not count.
    manifests = {"kind": "List", "apiVersion": "v1", "items": [
        node("full-1", "4"), node("full-2", "4"), node("empty", "8"), node("cordoned", "100", unschedulable=True),
        pod("a", nodeName="full-1"), pod("b", nodeName="full-2"), pod("pending", nodeSelector={"no": "node"})]}
    browser = pages.show(pages.page("fragmented", "-f", pages.write("fragmented.json", json.dumps(manifests))))
    plot = browser.run("return [...document.querySelectorAll('.plot')].find((plot) => plot.textContent.startsWith('Fragmentation')).textContent")
    assert "cpu 20\u00a0%" in plot, f"the plot says {plot!r}"


def nothing_is_wider_than_the_window(pages):
    browser = pages.show(journey(pages), width=400, height=800)
    for tab in ("queues", "decisions", "node", "pod"):
        browser.run("document.getElementById(arguments[0]).click()", f"tab-{tab}")
        pages.settle()
        width = browser.run("return document.documentElement.scrollWidth")
        assert width <= 400, f"{tab}: {width} pixels"


def dark_follows_the_system_and_the_button(pages):
    browser = pages.show(journey(pages), scheme="light")
    back = "getComputedStyle(document.documentElement).backgroundColor"
    light = browser.run(f"return {back}")
    pages.show(journey(pages), scheme="dark")
    dark = browser.run(f"return {back}")
    assert light != dark, f"light and dark are both {light}"
    pages.tab_to("#theme")
    pages.press("Enter")
    expect(browser.run(f"return {back}"), light, "the colour after the button")


def everything_can_be_read(pages):
    for scheme in ("light", "dark"):
        browser = pages.show(journey(pages), scheme=scheme)
        browser.run("document.getElementById('tiles').focus()")
        for tab in ("queues", "decisions", "node", "pod"):
            if tab == "node":
                browser.press("Enter")
            if tab == "pod":
                browser.run("document.querySelector('#panel-node .link, #panel-queues .link').click()")
            browser.run("document.getElementById(arguments[0]).click()", f"tab-{tab}")
            pages.settle()
            expect(browser.run(UNREADABLE), [], f"unreadable, {scheme}, {tab}")


def many_nodes_are_shown(pages):
    manifests = pages.write("large.yaml", large.manifests(20000))
    scenario = pages.write("large-scenario.yaml", large.scenario(5000))
    path = pages.page("large", "-f", manifests, "--scenario", scenario)
    browser = pages.show(path)
    expect(pages.tally()["nodes"], 5000, "nodes")
    ready = browser.run("return performance.timing.loadEventEnd - performance.timing.navigationStart")
    print(f"  5,000 nodes, 20,000 pods: {os.path.getsize(path) / 1e6:.1f} MB, open in {ready} ms")
    for key, times, what in (("Home", 1, "to the beginning"), ("PageUp", 9, "a tenth on"), ("ArrowRight", 60, "a hundredth on")):
        if key == "ArrowRight":
            browser.run_async(FRAMES, "Home", 1)
        took = sorted(browser.run_async(FRAMES, key, times))
        print(f"  {what:17} median {took[len(took) // 2]:6.1f} ms, slowest {took[-1]:6.1f} ms")
    expect(pages.complaints(), [], "complaints")


CASES = [
    loads_without_complaints_and_without_requests,
    the_policy_forbids_other_scripts,
    shows_at_the_end_what_the_report_says,
    shows_nothing_bound_at_the_beginning,
    moving_in_time_changes_the_state,
    tiles_are_drawn_as_time_moves,
    steps_go_back_and_on,
    playing_moves_and_stops,
    a_node_and_a_pod_are_chosen_with_the_keyboard,
    a_pod_is_found_by_its_name,
    queues_say_who_waits_and_why,
    names_are_text_and_nothing_else,
    an_explanation_is_shown,
    a_comparison_is_shown,
    fragmentation_is_what_is_free_where_the_commonest_pod_does_not_fit,
    nothing_is_wider_than_the_window,
    dark_follows_the_system_and_the_button,
    everything_can_be_read,
    many_nodes_are_shown,
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--berth", required=True)
    parser.add_argument("--cluster")
    parser.add_argument("--filter", default="", help="only cases with this in their name")
    arguments = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="berth-page-") as folder, Browser() as browser:
        pages = Pages(os.path.abspath(arguments.berth), folder, browser)
        if arguments.cluster:
            pages.cluster = os.path.abspath(arguments.cluster)
        for case in [*CASES, *(live.CASES if arguments.cluster else [])]:
            if arguments.filter not in case.__name__:
                continue
            try:
                case(pages)
                passed += 1
            except Exception as error:  # pylint: disable=broad-except
                failed += 1
                print(f"  {case.__name__.replace('_', ' ')}: {error}")
                if not isinstance(error, AssertionError):
                    traceback.print_exc()
            pages.complaints()
    print(f"  {passed} cases passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
