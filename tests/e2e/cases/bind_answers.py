"""What the API server may say to a binding, and what comes of it: bound in the end, and once."""
import re
import time

from harness.faulty_proxy import (
    answer,
    answer_after_effect,
    call_then,
    cut,
    cut_after_effect,
    is_bind,
)
from harness.registry import case


def once_refused(w, act, times=1):
    """Binds a pod whose first binds are answered by `act`; the proxy."""
    w.node("only", cpu="2")
    proxy = w.proxy()
    rule = proxy.on(is_bind("web"), act, times=times)
    w.start_scheduler(through=proxy)
    w.pod("web", cpu="2")
    assert w.bound("web") == ["only"]
    assert rule.done == times, rule.done
    return proxy


def codes(proxy):
    return [e.code for e in proxy.binds("web")]


def bound_once(w, proxy):
    """The pod has been given to its node by exactly one request."""
    w.bound_once(proxy, "web")
    w.event("web", "Scheduled", f"Successfully assigned {w.namespace}/web to only")


@case()
def conflict(w):
    text = 'Operation cannot be fulfilled on pods/binding "web": try again'
    proxy = once_refused(w, answer(409, "Conflict", text))
    bound_once(w, proxy)
    w.event("web", "FailedScheduling", re.compile(re.escape(text)))


@case()
def not_found(w):
    proxy = once_refused(w, answer(404, "NotFound", 'pods "web" not found'))
    bound_once(w, proxy)
    w.event("web", "FailedScheduling", re.compile('pods "web" not found'))


@case()
def internal_error(w):
    proxy = once_refused(w, answer(500, "InternalError", "Internal error occurred: no luck today"))
    bound_once(w, proxy)
    # The binding was posted again by the same attempt: nothing failed.
    assert not w.events("web", "FailedScheduling")


@case()
def internal_error_four_times_ends_the_attempt(w):
    proxy = once_refused(w, answer(500, "InternalError", "Internal error occurred: no luck today"), 4)
    bound_once(w, proxy)
    w.event("web", "FailedScheduling", re.compile("no luck today"))


@case()
def a_refusal_is_told_in_the_condition(w):
    w.node("only", cpu="2")
    proxy = w.proxy()
    proxy.on(is_bind("web"), answer(500, "InternalError", "Internal error occurred: no luck today"))
    w.start_scheduler(through=proxy)
    w.pod("web", cpu="2")
    found = w.unschedulable("web", re.compile("no luck today"), reason="SchedulerError")
    assert found["status"] == "False"
    proxy.clear()
    assert w.bound("web") == ["only"]


@case()
def too_many_requests_with_retry_after(w):
    w.node("only", cpu="2")
    proxy = w.proxy()
    act = answer(429, "TooManyRequests", "slow down", {"Retry-After": "1"})
    proxy.on(is_bind("web"), act, times=2)
    w.start_scheduler(through=proxy)
    w.pod("web", cpu="2")
    assert w.bound("web") == ["only"]
    w.eventually("the answer", lambda: proxy.binds("web", 201))
    times = [e.time for e in proxy.binds("web")]
    assert len(times) == 3, times
    # A second each, as asked; a little is allowed for how clocks are read.
    assert all(b - a > 0.9 for a, b in zip(times, times[1:])), times
    # The same attempt went on: nothing failed.
    assert not w.events("web", "FailedScheduling")
    bound_once(w, proxy)


@case()
def a_time_out_after_it_took_effect(w):
    act = answer_after_effect(504, "Timeout", "request did not complete within the allotted timeout")
    proxy = once_refused(w, act)
    assert not proxy.binds("web", 201)
    still_only_once(w, proxy)


@case()
def a_connection_lost_after_it_took_effect(w):
    proxy = once_refused(w, cut_after_effect())
    still_only_once(w, proxy)


@case()
def a_connection_lost_before_it_took_effect(w):
    proxy = once_refused(w, cut())
    bound_once(w, proxy)


def still_only_once(w, proxy):
    """Bound already, whatever the answer was: the room counts once, and others get theirs."""
    w.pod("other", cpu="1")
    w.unschedulable("other", re.compile("1 Insufficient cpu"))
    w.node("second", cpu="2")
    assert w.bound("other") == ["second"]
    assert len(proxy.binds("web", 201)) <= 1, codes(proxy)
    w.delete_pod("web")
    w.pod("after", cpu="2")
    assert w.bound("after") == ["only"]


@case()
def somebody_else_was_quicker(w):
    w.node("ours", cpu="2")
    w.node("theirs", cpu="2", unschedulable=True)
    proxy = w.proxy()

    def steal(request):
        w.api.bind(w.namespace, "web", "theirs")

    proxy.on(is_bind("web"), call_then(steal), times=1)
    w.start_scheduler(through=proxy)
    w.pod("web", cpu="2")
    assert w.bound("web") == ["theirs"]
    w.eventually("the refusal", lambda: proxy.binds("web", 409))
    # The room that was set aside is free again.
    w.pod("next", cpu="2")
    assert w.bound("next") == ["ours"]
    assert not proxy.binds("web", 201)


@case(placement=False)
def one_slow_binding_holds_up_nobody(w):
    w.node("only", cpu="20")
    proxy = w.proxy()

    def wait(request):
        time.sleep(3)

    slow = proxy.on(is_bind("slow"), call_then(wait), times=1)
    w.start_scheduler(through=proxy)
    w.pod("slow")
    w.eventually("the slow bind to be on its way", lambda: slow.done == 1)
    w.pods(10)
    w.bound(*(f"pod-{i}" for i in range(10)))
    w.bound("slow")
    w.eventually("the answer", lambda: proxy.binds("slow", 201))
    order = [e.path.split("/")[-2] for e in proxy.binds(code=201)]
    assert order[-1] == "slow", order
