"""Many small requests at once: a few processes with a few connections each and hardly any parsing, so
that Python is not what is measured. Used by cluster.py.
"""
import collections
import concurrent.futures
import json
import multiprocessing
import socket
import ssl
import threading
import time

PROCESSES, CONNECTIONS = 2, 16

Server = collections.namedtuple("Server", "host port token ca")  # ca: None where there is no TLS


def bound_pod(index, nodes):
    """(path, body) of a pod like those that `load` makes, on its node from the start."""
    requests = {"cpu": "100m", "memory": "500Mi"}
    return "/api/v1/namespaces/default/pods", {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"bound-{index:06}", "labels": {"app": "x"}},
        "spec": {
            "nodeName": f"node-{index % nodes:05}",
            "containers": [{"name": "c", "image": "pause", "resources": {"requests": requests}}],
        },
    }


def binding(index, pods, nodes):
    """(path, body) that puts one of the pods on a node."""
    name = pods[index]
    return f"/api/v1/namespaces/default/pods/{name}/binding", {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": name},
        "target": {"kind": "Node", "name": f"node-{index % nodes:05}"},
    }


def post_all(server, count, make):
    """Posts make(0) ... make(count - 1), in no order; raises when the server refuses one."""
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(PROCESSES, mp_context=context) as pool:
        parts = [
            pool.submit(_post_part, server, range(first, count, PROCESSES), make)
            for first in range(PROCESSES)
        ]
        for part in parts:
            part.result()


def _post_part(server, indices, make):
    waiting, lock = iter(indices), threading.Lock()

    def work():
        connection = _Connection(server)
        while True:
            with lock:
                index = next(waiting, None)
            if index is None:
                return
            connection.post(*make(index))

    with concurrent.futures.ThreadPoolExecutor(CONNECTIONS) as pool:
        for done in [pool.submit(work) for _ in range(min(CONNECTIONS, len(indices)))]:
            done.result()


class _Connection:
    """HTTP/1.1 to the API server, one request after the other."""

    def __init__(self, server):
        self._head = (
            f" HTTP/1.1\r\nHost: {server.host}:{server.port}\r\nAuthorization: Bearer {server.token}\r\n"
            "Content-Type: application/json\r\n"
            # Nobody looks at the answer; this is the shortest that there is.
            "Accept: application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json\r\n"
        )
        plain = socket.create_connection((server.host, server.port), timeout=60)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket = plain
        if server.ca:
            tls = ssl.create_default_context(cafile=server.ca)
            self._socket = tls.wrap_socket(plain, server_hostname=server.host)

    def post(self, path, body):
        data = json.dumps(body)
        request = f"POST {path}{self._head}Content-Length: {len(data)}\r\n\r\n{data}".encode()
        while True:
            self._socket.sendall(request)
            code, head, content = self._answer()
            if 200 <= code < 300:
                return
            if code != 429:
                raise RuntimeError(f"POST {path}: {code} {content.decode(errors='replace')}")
            time.sleep(float(_field(head, b"retry-after") or 1))

    def _answer(self):
        data = b""
        while b"\r\n\r\n" not in data:
            data += self._more()
        head, _, content = data.partition(b"\r\n\r\n")
        length = _field(head, b"content-length")
        if length is None and _field(head, b"transfer-encoding"):
            while not content.endswith(b"0\r\n\r\n"):
                content += self._more()
        else:
            while len(content) < int(length or 0):
                content += self._more()
        return int(head[9:12]), head, content

    def _more(self):
        data = self._socket.recv(65536)
        if not data:
            raise ConnectionError("the server closed the connection")
        return data


def _field(head, name):
    """The value of a header field in lower case, or None."""
    for line in head.lower().split(b"\r\n")[1:]:
        key, _, value = line.partition(b":")
        if key == name:
            return value.strip()
    return None
