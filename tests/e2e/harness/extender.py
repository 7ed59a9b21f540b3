"""A scheduler extender: a web server that answers as a case tells it to, and keeps what it was asked.

    extender = w.extender(filter=lambda args: {"NodeNames": ["b"]})
    w.start_scheduler(config={"extenders": [extender.config(nodeCacheCapable=True)]})
    ...
    extender.asked("filter")     # the arguments, in order

An answer may be a value (sent as JSON), text (sent as it stands), a (code, value) pair, or SILENCE.
"""
import http.server
import json
import socketserver
import ssl
import threading

SILENCE = object()

_VERBS = {"filter": "filterVerb", "prioritize": "prioritizeVerb", "preempt": "preemptVerb", "bind": "bindVerb"}


class _Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        pass  # clients go when their time is up


class Extender:
    def __init__(self, certificate=None, **answers):
        self._answers, self._asked, self._lock = answers, [], threading.Lock()
        self._ended = threading.Event()
        self._server = _Server(("127.0.0.1", 0), self._handler())
        scheme = "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
            scheme = "https"
        self.url = f"{scheme}://127.0.0.1:{self._server.server_address[1]}/extender"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def config(self, **more):
        """Its entry in a scheduler's configuration, with the verbs that it has answers for."""
        verbs = {_VERBS[verb]: verb for verb in self._answers}
        weight = {"weight": 1} if "prioritize" in self._answers else {}
        return {"urlPrefix": self.url, **verbs, **weight, **more}

    def answer(self, verb, how):
        """From now on."""
        with self._lock:
            self._answers[verb] = how

    def asked(self, verb, pod=None):
        """What it was asked, in order: the arguments (of a pod by that name)."""
        with self._lock:
            found = [args for asked, args in self._asked if asked == verb]
        return [a for a in found if pod is None or _pod_name(a) == pod]

    def requests(self):
        with self._lock:
            return list(self._asked)

    def close(self):
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()

    def _take(self, verb, args):
        with self._lock:
            self._asked.append((verb, args))
            how = self._answers.get(verb, (404, "no such verb"))
        return how(args) if callable(how) else how

    def _handler(extender):  # noqa: N805
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                verb = self.path.rsplit("/", 1)[-1]
                answer = extender._take(verb, json.loads(body))
                if answer is SILENCE:
                    extender._ended.wait(120)
                    self.close_connection = True
                    return
                code, value = answer if isinstance(answer, tuple) else (200, answer)
                data = value.encode() if isinstance(value, str) else json.dumps(value).encode()
                self.send_response(code)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        return Handler


def _pod_name(args):
    return args.get("PodName") or (args.get("Pod") or {}).get("metadata", {}).get("name")


# What differs from run to run, wherever it stands.
_OF_THE_RUN = {
    "uid": "UID", "UID": "UID", "PodUID": "UID", "resourceVersion": "VERSION",
    "creationTimestamp": "TIME", "lastTransitionTime": "TIME", "lastHeartbeatTime": "TIME",
    "startTime": "TIME", "time": "TIME", "lastProbeTime": "TIME",
}  # fmt: skip


def normalized(value):
    """The arguments without what differs from run to run."""
    if isinstance(value, dict):
        return {
            k: _OF_THE_RUN[k] if k in _OF_THE_RUN and isinstance(v, str) else normalized(v)
            for k, v in value.items()
        }
    if isinstance(value, list):
        return [normalized(v) for v in value]
    return value
