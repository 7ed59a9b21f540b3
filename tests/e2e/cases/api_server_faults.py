"""The API server goes away, comes back, forgets, stutters: nothing is missed, nothing done twice."""
import time

from harness.faulty_proxy import answer, is_list, is_request, is_watch
from harness.registry import case

PODS, NODES = "/api/v1/pods", "/api/v1/nodes"


@case(placement=False)
def restarted_in_the_middle(w):
    w.nodes(3, cpu="10")
    scheduler = w.start_scheduler()
    w.pods(10, prefix="before-", cpu="1")
    w.server.restart()
    w.pods(10, prefix="after-", cpu="1")
    names = [f"{p}-{i}" for p in ("before", "after") for i in range(10)]
    w.bound(*names, seconds=120)
    assert scheduler.child.running()
    w.eventually("it to be ready again", scheduler.ready)


@case()
def deletions_while_it_was_away_are_seen(w):
    w.node("only", cpu="2")
    proxy = w.proxy()
    w.start_scheduler(through=proxy)
    w.pod("first", cpu="2")
    w.bound("first")
    w.pod("second", cpu="2")
    w.unschedulable("second")
    proxy.down()
    w.delete_pod("first")
    w.gone("first")
    proxy.up()
    assert w.bound("second", seconds=120) == ["only"]


@case()
def everything_new_while_it_was_away_is_seen(w):
    w.node("gone-soon", cpu="1")
    proxy = w.proxy()
    w.start_scheduler(through=proxy)
    w.pod("marker", cpu="1")
    w.bound("marker")
    proxy.down()
    w.api.delete("nodes", "gone-soon")
    w.node("new", cpu="2")
    w.pods(2, cpu="1")
    proxy.up()
    assert w.bound("pod-0", "pod-1", seconds=120) == ["new", "new"]
    w.bound_once(proxy, "pod-0", "pod-1")


@case()
def a_watch_cut_in_the_middle_of_a_frame(w):
    cut_and_go_on(w, tidy=False)


@case()
def a_watch_that_ends_politely_in_the_middle_of_a_frame(w):
    cut_and_go_on(w, tidy=True)


def cut_and_go_on(w, tidy):
    w.node("small", cpu="1")
    proxy = w.proxy()
    w.start_scheduler(through=proxy)
    w.pod("marker", cpu="500m")
    w.bound("marker")
    for path, make in ((PODS, lambda: w.pod("web", cpu="3")), (NODES, lambda: w.node("large", cpu="4"))):
        cut = proxy.cut_in_frame(path, tidy)
        make()
        w.eventually(f"the cut of {path}", cut.is_set)
    assert w.bound("web", seconds=120) == ["large"]
    w.bound_once(proxy, "web")


@case(placement=False)
def watches_cut_again_and_again(w):
    w.nodes(2, cpu="20")
    proxy = w.proxy()
    w.start_scheduler(through=proxy)
    for i in range(4):
        w.pods(3, prefix=f"round-{i}-")
        w.eventually("a watch of pods", lambda: proxy.watches(PODS) > 0)
        proxy.cut_watches(PODS)
    names = [f"round-{i}-{j}" for i in range(4) for j in range(3)]
    w.bound(*names, seconds=120)
    w.bound_once(proxy, *names)


@case()
def a_version_that_the_server_forgot(w):
    w.node("only", cpu="2")
    proxy = w.proxy()
    w.start_scheduler(through=proxy)
    w.pod("first", cpu="2")
    w.bound("first")
    # From now on every watch that goes on from a version is refused; a new list is the way out.
    gone = answer(410, "Expired", "too old resource version: 1 (1000)")
    refused = proxy.on(
        lambda r: is_watch(PODS)(r) and not is_list(PODS)(r) and r.query.get("resourceVersion"),
        gone,
        times=1,
    )
    proxy.cut_watches(PODS)
    w.eventually("the refusal", lambda: refused.done == 1)
    w.delete_pod("first")
    w.gone("first")
    w.pod("second", cpu="2")
    assert w.bound("second", seconds=120) == ["only"]


@case()
def lists_that_fail_at_first(w):
    w.node("only")
    proxy = w.proxy()
    rule = proxy.on(is_list(NODES), answer(503, "ServiceUnavailable", "not yet"), times=2)
    w.pod("web")
    scheduler = w.start_scheduler(through=proxy, ready=False)
    w.eventually("the refusals", lambda: rule.done == 2)
    assert w.bound("web", seconds=120) == ["only"]
    w.eventually("it to be ready", scheduler.ready)


@case()
def not_there_at_the_start(w):
    w.node("only")
    w.pod("web")
    proxy = w.proxy()
    proxy.down()
    scheduler = w.start_scheduler(through=proxy, ready=False)
    w.eventually("it to complain", lambda: "connection refused" in scheduler.log().lower())
    assert scheduler.child.running(), scheduler.log()[-500:]
    w.eventually("it to say that it is not ready", scheduler.unready)
    proxy.up()
    assert w.bound("web", seconds=120) == ["only"]
    w.eventually("it to be ready", scheduler.ready)


@case()
def one_kind_that_may_not_be_read_keeps_it_idle(w):
    w.node("only")
    proxy = w.proxy()
    path = "/apis/policy/v1/poddisruptionbudgets"
    text = 'poddisruptionbudgets.policy is forbidden: User "x" cannot list resource'
    proxy.on(is_request("GET", f"^{path}$"), answer(403, "Forbidden", text))
    scheduler = w.start_scheduler(through=proxy, ready=False)
    w.pod("web")
    w.eventually("it to say so", lambda: "poddisruptionbudgets.policy is forbidden" in scheduler.log())
    w.eventually("it to say that it is not ready", scheduler.unready)
    assert w.unbound("web")
    proxy.clear()
    assert w.bound("web", seconds=120) == ["only"]


@case()
def events_that_are_refused_are_in_nobodys_way(w):
    w.nodes(1, cpu="20")
    proxy = w.proxy()
    text = "events are not welcome"
    proxy.on(is_request("POST", "/events$"), answer(500, "InternalError", text))
    w.start_scheduler(through=proxy)
    w.pods(10)
    w.bound(*(f"pod-{i}" for i in range(10)))


@case()
def a_status_patch_that_fails_is_tried_again(w):
    w.node("small", cpu="1")
    proxy = w.proxy()
    rule = proxy.on(
        is_request("PATCH", "/pods/big/status$"),
        answer(500, "InternalError", "Internal error occurred: not this time"),
        times=2,
    )
    w.start_scheduler(through=proxy)
    w.pod("big", cpu="3")
    w.unschedulable("big")
    assert rule.done == 2, rule.done


@case()
def a_server_that_holds_still_for_a_while(w):
    w.node("only")
    w.start_scheduler()
    w.pod("before")
    w.bound("before")
    w.server.pause()
    w.at_end(w.server.resume)
    time.sleep(1)
    w.server.resume()
    w.pod("after")
    assert w.bound("after") == ["only"]


@case()
def a_server_of_the_version_before_has_no_device_taint_rules(w):
    w.node("only", cpu="2")
    proxy = w.proxy()
    rules = is_request("GET", "/apis/resource.k8s.io/v1/devicetaintrules")
    missing = proxy.on(rules, answer(404, "NotFound", "the server could not find the requested resource"))
    waiting = w.start_scheduler(through=proxy, ready=False)
    w.pod("web", cpu="1")
    w.eventually("it to ask again", lambda: missing.done >= 2)
    w.always("it is not ready", lambda: not waiting.ready(), 1)
    assert not w.events("web")
    waiting.stop()
    # Without the rules it asks for nothing that is not there.
    w.start_scheduler(through=proxy, flags=["--feature-gates=DRADeviceTaintRules=false"])
    assert w.bound("web") == ["only"]
