"""The scheduler's own port: health, metrics, configuration, and who may read them."""
import http.client
import json
import os
import re
import signal
import socket
import ssl

from harness.certificates import Authority
from harness.registry import case
from harness.servers import ADMIN_TOKEN, MONITOR_TOKEN, PLAIN_TOKEN

HERE = os.path.dirname(os.path.abspath(__file__))


def guarded(w, **more):
    """A scheduler that asks the API server about callers, as kubeadm sets it up."""
    path = w.kubeconfig("guard")
    flags = [f"--authentication-kubeconfig={path}", f"--authorization-kubeconfig={path}"]
    return w.start_scheduler(flags=flags + more.pop("flags", []), **more)


def body(scheduler, path, token=None, code=200, method="GET", headers=None):
    got, _, content = scheduler.endpoint(token).exchange(method, path, headers=headers)
    assert got == code, f"{path}: {got} {content[:300]}"
    return content.decode()


@case()
def health_for_everybody(w):
    scheduler = w.start_scheduler()
    for path in ("/healthz", "/livez", "/readyz"):
        assert body(scheduler, path) == "ok", path
    verbose = body(scheduler, "/readyz?verbose")
    assert verbose == "[+]shutdown ok\n[+]sched-handler-sync ok\nreadyz check passed\n", verbose
    verbose = body(scheduler, "/livez?verbose")
    assert verbose == "[+]ping ok\nlivez check passed\n", verbose
    excluded = body(scheduler, "/readyz?verbose&exclude=shutdown")
    assert "[+]shutdown excluded: ok\n" in excluded, excluded
    unknown = body(scheduler, "/healthz?verbose&exclude=nothing")
    assert 'warn: some health checks cannot be excluded: no matches for "nothing"' in unknown, unknown


@case()
def health_with_an_election(w):
    scheduler = w.start_scheduler(flags=["--leader-elect=true"])
    verbose = body(scheduler, "/readyz?verbose")
    wanted = "[+]leaderElection ok\n[+]shutdown ok\n[+]sched-handler-sync ok\nreadyz check passed\n"
    assert verbose == wanted, verbose
    assert body(scheduler, "/healthz?verbose") == "[+]leaderElection ok\nhealthz check passed\n"


@case()
def strangers_read_no_more_than_health(w):
    scheduler = w.start_scheduler(flags=["--authorization-webhook-cache-authorized-ttl=10s"])
    secret = ["/metrics", "/configz", "/metrics/resources", "/healthz/ping", "/debug/pprof/", "/flagz", "/explain"]
    for path in secret + ["/"]:
        answer = json.loads(body(scheduler, path, code=403))
        assert answer["kind"] == "Status" and answer["reason"] == "Forbidden", answer
        wanted = f'forbidden: User "system:anonymous" cannot get path "{path}"'
        assert answer["message"] == wanted, answer
        assert answer["code"] == 403, answer


@case(servers=("real",))
def callers_are_asked_about(w):
    scheduler = guarded(w)
    assert "scheduler_pending_pods" in body(scheduler, "/metrics", MONITOR_TOKEN)
    body(scheduler, "/configz", MONITOR_TOKEN, code=403)
    body(scheduler, "/metrics/resources", MONITOR_TOKEN, code=403)
    refused = json.loads(body(scheduler, "/metrics", PLAIN_TOKEN, code=403))
    assert refused["message"] == 'forbidden: User "plain" cannot get path "/metrics"', refused
    unknown = json.loads(body(scheduler, "/metrics", "no-such-token", code=401))
    assert unknown["reason"] == "Unauthorized", unknown
    for path in ("/metrics", "/configz", "/metrics/resources", "/healthz/ping", "/flagz", "/statusz"):
        body(scheduler, path, ADMIN_TOKEN)
    body(scheduler, "/no/such/path", ADMIN_TOKEN, code=404)


@case()
def the_flags_of_a_kubeadm_cluster(w):
    w.node("only")
    scheduler = guarded(w, flags=["--leader-elect=true"])
    w.pod("web")
    assert w.bound("web") == ["only"]
    assert body(scheduler, "/livez") == "ok"


@case()
def the_metric_families_of_upstream(w):
    w.node("only", cpu="2")
    scheduler = w.start_scheduler(flags=["--leader-elect=true"])
    w.pod("web")
    w.pod("big", cpu="64")
    w.bound("web")
    w.unschedulable("big")
    with open(os.path.join(HERE, "metric_families.txt")) as f:
        wanted = dict(line.split() for line in f if line.strip() and not line.startswith("#"))

    def missing():
        types = scheduler.metrics().types
        return [f"{n} {t}" for n, t in wanted.items() if types.get(n) != t]

    # Some are counted a moment later than what they count.
    try:
        w.eventually("all families", lambda: not missing(), 5)
    except AssertionError:
        raise AssertionError(f"not there, or of another type: {missing()}") from None


@case(placement=False)
def the_values_of_metrics_mean_something(w):
    w.nodes(2, cpu="2")
    scheduler = w.start_scheduler()
    w.pods(3, cpu="100m")
    w.pod("big", cpu="64")
    w.pod("gated", schedulingGates=[{"name": "example.com/wait"}])
    w.bound("pod-0", "pod-1", "pod-2")
    w.unschedulable("big")
    wanted = [
        ("scheduler_schedule_attempts_total", {"result": "scheduled", "profile": "default-scheduler"}, 3),
        ("scheduler_schedule_attempts_total", {"result": "unschedulable"}, 1),
        ("scheduler_pending_pods", {"queue": "unschedulable"}, 1),
        ("scheduler_pending_pods", {"queue": "gated"}, 1),
        ("scheduler_pending_pods", {"queue": "active"}, 0),
        ("scheduler_pod_scheduling_attempts_count", {}, 3),
        ("scheduler_scheduling_attempt_duration_seconds_count", {"result": "scheduled"}, 3),
        ("scheduler_pod_scheduling_sli_duration_seconds_count", {"attempts": "1"}, 3),
        ("scheduler_preemption_attempts_total", {}, 1),
        ("scheduler_queue_incoming_pods_total", {"queue": "active", "event": "UnscheduledPodAdd"}, 4),
        ("scheduler_unschedulable_pods", {"plugin": "NodeResourcesFit"}, 1),
        ("scheduler_cache_size", {"type": "nodes"}, 2),
        ("scheduler_cache_size", {"type": "pods"}, 3),
        ("kubernetes_build_info", {}, 1),
    ]
    for name, labels, value in wanted:
        seen = []

        def right():
            seen[:] = [scheduler.metrics().value(name, **labels)]
            return seen[0] == value

        try:
            w.eventually(f"{name}{labels} = {value}", right, 10)
        except AssertionError as error:
            raise AssertionError(f"{error}: it is {seen}") from None
    metrics = scheduler.metrics()
    for point in ("PreFilter", "Filter", "Score", "Reserve", "Permit", "PreBind", "Bind", "PostBind"):
        name = "scheduler_framework_extension_point_duration_seconds_count"
        assert metrics.value(name, extension_point=point), point
    assert metrics.value("rest_client_requests_total", method="POST", code="201") >= 3


@case()
def resources_of_pods(w):
    w.node("only", cpu="4")
    flags = ["--authorization-always-allow-paths=/readyz,/metrics/resources"]
    scheduler = w.start_scheduler(flags=flags)
    w.pod("web", cpu="1500m", memory="1Gi")
    w.bound("web")
    wanted = re.compile(
        rf'^kube_pod_resource_request{{namespace="{w.namespace}",node="only",pod="web",priority="0",'
        r'resource="cpu",scheduler="default-scheduler",unit="cores"} 1.5$',
        re.MULTILINE,
    )
    w.eventually("the series", lambda: wanted.search(body(scheduler, "/metrics/resources")), 10)


@case()
def health_as_metrics(w):
    flags = ["--authorization-always-allow-paths=/readyz,/livez,/metrics/slis"]
    scheduler = w.start_scheduler(flags=flags)
    body(scheduler, "/livez")
    text = body(scheduler, "/metrics/slis")
    assert 'kubernetes_healthcheck{name="ping",type="livez"} 1' in text, text
    assert 'kubernetes_healthchecks_total{name="ping",status="success",type="livez"}' in text, text


@case()
def the_configuration_in_use(w):
    flags = ["--authorization-always-allow-paths=/readyz,/configz"]
    config = {"parallelism": 7, "profiles": [{"schedulerName": "mine"}]}
    scheduler = w.start_scheduler(flags=flags, config=config)
    answer = json.loads(body(scheduler, "/configz"))["componentconfig"]
    assert answer["kind"] == "KubeSchedulerConfiguration", answer
    assert answer["parallelism"] == 7 and answer["profiles"][0]["schedulerName"] == "mine", answer
    assert answer["podMaxBackoffSeconds"] == 10, answer


@case()
def status_and_flags_as_text(w):
    flags = ["--authorization-always-allow-paths=/readyz,/statusz,/flagz"]
    scheduler = w.start_scheduler(flags=flags)
    status = body(scheduler, "/statusz")
    assert "kube-scheduler statusz" in status, status
    assert re.search(r"Emulation version *[:= ] *1\.37", status), status
    given = body(scheduler, "/flagz")
    assert "kube-scheduler flagz" in given, given
    assert re.search(rf"^secure-port *[:= ] *{scheduler.port}$", given, re.MULTILINE), given


@case()
def plain_http_is_told_so(w):
    scheduler = w.start_scheduler()
    connection = http.client.HTTPConnection("127.0.0.1", scheduler.port, timeout=30)
    connection.request("GET", "/healthz")
    answer = connection.getresponse()
    text = answer.read().decode()
    assert answer.status == 400, answer.status
    assert text == "Client sent an HTTP request to an HTTPS server.\n", text


@case()
def a_port_that_is_taken(w):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        scheduler = w.start_scheduler(flags=[f"--secure-port={port}"], ready=False)
        assert scheduler.child.wait(60) == 1, scheduler.child.exit_code
        address = f"127.0.0.1:{port}"
        wanted = f"failed to listen on {address}: listen tcp {address}: bind: address already in use"
        assert wanted in scheduler.log(), scheduler.log()


@case(needs=("openssl",))
def a_certificate_of_ones_own(w):
    authority = Authority(w.folder, "serving")
    certificate, key = authority.issue("scheduler", names=["IP:127.0.0.1"])
    files = [os.path.join(w.folder, n) for n in ("serving.crt", "serving.key")]

    def put(pair):
        for source, target in zip(pair, files):
            with open(source) as f, open(target + ".new", "w") as out:
                out.write(f.read())
            os.rename(target + ".new", target)

    put((certificate, key))
    flags = [f"--tls-cert-file={files[0]}", f"--tls-private-key-file={files[1]}"]
    scheduler = w.start_scheduler(flags=flags)

    def shown():
        return ssl.get_server_certificate(("127.0.0.1", scheduler.port)).strip()

    def content(path):
        with open(path) as f:
            return f.read().strip()

    assert shown() == content(certificate)
    renewed = authority.issue("scheduler", names=["IP:127.0.0.1"])
    put(renewed)
    w.eventually("the new certificate", lambda: shown() == content(renewed[0]), 120)


@case()
def a_dump_on_demand(w):
    w.node("only")
    scheduler = w.start_scheduler()
    w.pod("web")
    w.bound("web")
    scheduler.child.signal(signal.SIGUSR2)
    w.eventually("the dump of nodes", lambda: "Dump of cached NodeInfo" in scheduler.log())
    w.eventually("the dump of the queue", lambda: "Dump of scheduling queue" in scheduler.log())
    w.pod("after")
    w.bound("after")


@case()
def logs_as_json(w):
    w.node("only")
    scheduler = w.start_scheduler(flags=["--logging-format=json"])
    w.pod("web")
    w.bound("web")

    def record():
        for line in scheduler.log().splitlines()[1:]:
            parsed = json.loads(line)
            if parsed.get("msg") == "Successfully bound pod to node":
                return parsed
        return None

    found = w.eventually("the record", record)
    assert found["node"] == "only", found
    assert found["pod"] == {"name": "web", "namespace": w.namespace}, found
    assert found["v"] == 2 and "ts" in found and "caller" in found, found


@case()
def logs_as_text(w):
    w.node("only")
    scheduler = w.start_scheduler()
    w.pod("web")
    w.bound("web")
    line = re.compile(
        r'^I\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ \S+:\d+\] "Successfully bound pod to node" '
        rf'pod="{w.namespace}/web" node="only" evaluatedNodes=1 feasibleNodes=1$',
        re.MULTILINE,
    )
    w.eventually("the line", lambda: line.search(scheduler.log()))


@case()
def the_verbosity_can_be_changed(w):
    flags = ["--authorization-always-allow-paths=/readyz,/debug/*"]
    scheduler = w.start_scheduler(flags=flags)
    code, _, content = scheduler.endpoint().exchange("PUT", "/debug/flags/v", body=b"5")
    assert code == 200, (code, content)
    assert content.decode().strip() == "successfully set klog.logging.verbosity to 5", content


@case()
def without_profiling_there_is_none(w):
    flags = ["--authorization-always-allow-paths=/readyz,/debug/*", "--profiling=false"]
    scheduler = w.start_scheduler(flags=flags)
    body(scheduler, "/debug/pprof/", code=404)
