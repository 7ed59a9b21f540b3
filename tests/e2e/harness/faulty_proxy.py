"""A proxy between a scheduler and its API server that does wrong on demand.

It speaks HTTP/1.1 on both sides, with TLS in front when a certificate is given, and keeps a record of
every request. Rules decide what becomes of a request; the first that matches takes it:

    proxy.on(is_bind("web"), answer(409, "Conflict", "..."), times=1)

Watches can be cut in the middle of a frame, and the whole proxy can go away and come back.
"""
import collections
import http.client
import json
import re
import socket
import ssl
import struct
import threading
import time
import urllib.parse

Exchange = collections.namedtuple("Exchange", "method path query code time headers")


class Request:
    def __init__(self, method, target, headers, body):
        self.method, self.target, self.headers, self.body = method, target, headers, body
        parts = urllib.parse.urlsplit(target)
        self.path, self.query = parts.path, dict(urllib.parse.parse_qsl(parts.query))

    @property
    def watch(self):
        return self.query.get("watch") in ("true", "1")


class Rule:
    def __init__(self, matches, act, times):
        self.matches, self.act, self.times, self.done = matches, act, times, 0


# What may become of a request. An action gets (proxy connection, request) and returns the code.


def status(code, reason, message, **details):
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "details": details,
        "code": code,
    }


def answer(code, reason, message, headers=None):
    """The server never hears of the request."""
    body = json.dumps(status(code, reason, message)).encode()
    return lambda line, request: line.respond(code, body, headers)


def answer_after_effect(code, reason, message):
    """The request takes effect, but the client is told something else."""
    body = json.dumps(status(code, reason, message)).encode()

    def act(line, request):
        line.ask(request)[1].read()
        return line.respond(code, body)

    return act


def cut_after_effect():
    """The request takes effect, and instead of an answer the connection ends."""

    def act(line, request):
        line.ask(request)[1].read()
        raise Cut()

    return act


def cut():
    """The connection ends before the request goes anywhere."""

    def act(line, request):
        raise Cut()

    return act


def hold(event, seconds=120):
    """The request waits for the event, then goes its way."""

    def act(line, request):
        event.wait(seconds)
        return line.relay(request)

    return act


def call_then(function, then=None):
    """Something else happens at the server first; then the request goes its way (or `then`)."""

    def act(line, request):
        function(request)
        return then(line, request) if then else line.relay(request)

    return act


# Which request is meant.


def is_bind(name=None):
    tail = f"/pods/{name}/binding" if name else "/binding"
    return lambda request: request.method == "POST" and request.path.endswith(tail)


def is_watch(path=None):
    return lambda request: request.watch and (path is None or request.path == path)


def is_list(path=None):
    """A list, whether it comes as one answer or as the beginning of a watch."""

    def matches(request):
        whole = not request.watch or request.query.get("sendInitialEvents") == "true"
        return request.method == "GET" and whole and (path is None or request.path == path)

    return matches


def is_request(method, pattern):
    expression = re.compile(pattern)
    return lambda request: request.method == method and expression.search(request.path) is not None


class Cut(Exception):
    """This connection is to end now, without another word."""


class FaultyProxy:
    """Listens on a loopback port of its own; `server` is what it stands in front of.

    `token` goes to the server when the client shows none, which clients without TLS never do.
    `expect_token` makes it ask clients for that one itself, instead of the server.
    """

    def __init__(self, server, token=None, certificate=None, client_ca=None, expect_token=None):
        self.server, self.token, self.expect_token = server, token, expect_token
        self._tls = None
        if certificate:
            self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._tls.load_cert_chain(*certificate)
            self._tls.set_alpn_protocols(["http/1.1"])
            if client_ca:
                self._tls.load_verify_locations(client_ca)
                self._tls.verify_mode = ssl.CERT_REQUIRED
        self._lock = threading.Lock()
        self._rules, self._exchanges, self._lines = [], [], set()
        self._cuts = []
        self._listener = None
        self.port = 0
        self.up()

    @property
    def url(self):
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    def on(self, matches, act, times=None):
        """From now on `act` takes the requests that match; `times` bounds how many."""
        rule = Rule(matches, act, times)
        with self._lock:
            self._rules.append(rule)
        return rule

    def clear(self):
        with self._lock:
            self._rules.clear()

    def exchanges(self, matches=None):
        """What was asked and answered, in the order of the answers."""
        with self._lock:
            return [e for e in self._exchanges if matches is None or matches(e)]

    def binds(self, name=None, code=None):
        tail = f"/pods/{name}/binding" if name else "/binding"
        return self.exchanges(
            lambda e: e.method == "POST" and e.path.endswith(tail) and code in (None, e.code)
        )

    def watches(self, path=None):
        """How many watches are open now."""
        with self._lock:
            return sum(1 for l in self._lines if l.watching and path in (None, l.watching))

    def cut_in_frame(self, path, tidy=False):
        """The next frame of the watch on `path` comes only half, and the stream ends there.

        `tidy`: ends as HTTP wants it, so that only the half frame tells that something is missing.
        Returns an event that is set when it happened.
        """
        happened = threading.Event()
        with self._lock:
            self._cuts.append((path, tidy, happened))
        return happened

    def cut_watches(self, path=None):
        """Ends the open watches (or those on `path`) with a reset."""
        with self._lock:
            lines = [l for l in self._lines if l.watching and path in (None, l.watching)]
        for line in lines:
            line.end()
        return len(lines)

    def down(self):
        """Goes away: nobody listens, all connections end."""
        with self._lock:
            listener, self._listener = self._listener, None
            lines = list(self._lines)
        if listener:
            # Closing alone does not wake the thread that accepts.
            try:
                listener.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            listener.close()
        for line in lines:
            line.end()

    def up(self):
        """Comes back at the same address."""
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self.port))
        listener.listen(128)
        self.port = listener.getsockname()[1]
        self._listener = listener
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    close = down

    def _accept(self, listener):
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            line = _Line(self, connection, self._tls)
            with self._lock:
                if self._listener is not listener:
                    connection.close()
                    return
                self._lines.add(line)
            threading.Thread(target=line.run, daemon=True).start()

    def _rule_for(self, request):
        with self._lock:
            for rule in self._rules:
                if (rule.times is None or rule.done < rule.times) and rule.matches(request):
                    rule.done += 1
                    return rule
        return None

    def _take_cut(self, path):
        with self._lock:
            for cut_ in self._cuts:
                if cut_[0] == path:
                    self._cuts.remove(cut_)
                    return cut_
        return None

    def _record(self, request, code):
        now = time.monotonic()
        exchange = Exchange(request.method, request.path, request.query, code, now, request.headers)
        with self._lock:
            self._exchanges.append(exchange)

    def _forget(self, line):
        with self._lock:
            self._lines.discard(line)


class _Line:
    """One connection of a client, and the one to the server that belongs to it."""

    def __init__(self, proxy, connection, tls):
        self._proxy, self._socket, self._tls = proxy, connection, tls
        self._upstream = None
        self._in = self._out = None
        self.watching = None

    def run(self):
        try:
            if self._tls:
                self._socket = self._tls.wrap_socket(self._socket, server_side=True)
            self._in, self._out = self._socket.makefile("rb"), self._socket.makefile("wb")
            while request := self._read_request():
                self._serve(request)
        except (Cut, OSError, ValueError, http.client.HTTPException):
            pass
        finally:
            self.end()
            self._proxy._forget(self)

    def end(self):
        """Ends with a reset, not with a farewell."""
        try:
            linger = struct.pack("ii", 1, 0)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self._socket.shutdown(socket.SHUT_RDWR)
        except (OSError, ValueError):
            pass
        try:
            self._socket.close()
        except OSError:
            pass
        upstream = self._upstream
        if upstream is not None and upstream.sock is not None:
            try:
                upstream.sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _read_request(self):
        first = self._in.readline(65536)
        if not first.strip():
            return None
        method, target, _ = first.decode("latin-1").split(" ", 2)
        headers = {}
        while True:
            header = self._in.readline(65536).decode("latin-1").strip()
            if not header:
                break
            name, _, value = header.partition(":")
            headers[name.strip().lower()] = value.strip()
        body = b""
        if headers.get("transfer-encoding", "").lower() == "chunked":
            while size := int(self._in.readline().split(b";")[0], 16):
                body += self._in.read(size)
                self._in.readline()
            self._in.readline()
        elif "content-length" in headers:
            body = self._in.read(int(headers["content-length"]))
        return Request(method, target, headers, body)

    def _serve(self, request):
        expected = self._proxy.expect_token
        if expected and request.headers.get("authorization") != f"Bearer {expected}":
            code = self.respond(401, json.dumps(status(401, "Unauthorized", "Unauthorized")).encode())
        elif rule := self._proxy._rule_for(request):
            code = rule.act(self, request)
        else:
            code = self.relay(request)
        if code is not None:
            self._proxy._record(request, code)

    def ask(self, request):
        """(connection, response) of the server."""
        if self._upstream is None:
            self._upstream = self._proxy.server.client().connect(timeout=None)
        headers = {k: v for k, v in request.headers.items() if k not in ("host", "connection")}
        headers.pop("transfer-encoding", None)
        if self._proxy.expect_token:
            headers.pop("authorization", None)
        if self._proxy.token:
            headers.setdefault("authorization", f"Bearer {self._proxy.token}")
        try:
            self._upstream.request(request.method, request.target, request.body or None, headers)
            return self._upstream, self._upstream.getresponse()
        except (http.client.HTTPException, OSError):
            raise Cut() from None

    def respond(self, code, body, headers=None):
        lines = [f"HTTP/1.1 {code} {http.client.responses.get(code, '')}"]
        given = {"Content-Type": "application/json", **(headers or {}), "Content-Length": len(body)}
        lines += [f"{k}: {v}" for k, v in given.items()]
        self._out.write("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)
        self._out.flush()
        return code

    def relay(self, request):
        _, response = self.ask(request)
        headers = {
            k: v
            for k, v in response.getheaders()
            if k.lower() not in ("transfer-encoding", "connection", "content-length")
        }
        if not request.watch or response.status != 200:
            body = response.read()
            # What took effect is recorded even if nobody is left to hear of it.
            self._proxy._record(request, response.status)
            self.respond(response.status, body, headers)
            return None
        self._proxy._record(request, response.status)
        head = [f"HTTP/1.1 {response.status} OK", "Transfer-Encoding: chunked"]
        head += [f"{k}: {v}" for k, v in headers.items()]
        self._out.write("\r\n".join(head).encode("latin-1") + b"\r\n\r\n")
        self._out.flush()
        self.watching = request.path
        try:
            self._stream(request, response)
        finally:
            self.watching = None
        return None

    def _stream(self, request, response):
        while data := response.read1(65536):
            if cut_ := self._proxy._take_cut(request.path):
                _, tidy, happened = cut_
                half = data[: len(data) // 2]
                size = len(half) if tidy else len(data)
                self._out.write(b"%x\r\n" % size + half + (b"\r\n0\r\n\r\n" if tidy else b""))
                self._out.flush()
                happened.set()
                if tidy:
                    # The server's half of this stream is of no use any more.
                    self._upstream.close()
                    self._upstream = None
                    return
                raise Cut()
            self._out.write(b"%x\r\n" % len(data) + data + b"\r\n")
            self._out.flush()
        self._out.write(b"0\r\n\r\n")
        self._out.flush()
