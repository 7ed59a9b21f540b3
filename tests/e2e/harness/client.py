"""A small client of the Kubernetes API: JSON over http.client, watches on threads."""
import http.client
import json
import socket
import ssl
import threading
import urllib.parse


class ApiError(RuntimeError):
    """The server said no; `code` and `status` are its answer."""

    def __init__(self, method, path, code, body):
        try:
            self.status = json.loads(body)
            message = self.status.get("message", body)
        except ValueError:
            self.status, message = {}, body
        self.code = code
        super().__init__(f"{method} {path}: {code} {message}")


_BASES = {
    "priorityclasses": "/apis/scheduling.k8s.io/v1",
    "poddisruptionbudgets": "/apis/policy/v1",
    "leases": "/apis/coordination.k8s.io/v1",
    "storageclasses": "/apis/storage.k8s.io/v1",
    "deployments": "/apis/apps/v1",
    "replicasets": "/apis/apps/v1",
    "newevents": "/apis/events.k8s.io/v1",
    "deviceclasses": "/apis/resource.k8s.io/v1",
    "devicetaintrules": "/apis/resource.k8s.io/v1",
    "resourceslices": "/apis/resource.k8s.io/v1",
    "resourceclaims": "/apis/resource.k8s.io/v1",
}
_CLUSTER_WIDE = {
    "nodes", "namespaces", "priorityclasses", "persistentvolumes", "storageclasses", "deviceclasses",
    "devicetaintrules", "resourceslices",
}  # fmt: skip


def path_of(resource, namespace=None, name=None, subresource=None):
    parts = [_BASES.get(resource, "/api/v1")]
    if namespace and resource not in _CLUSTER_WIDE:
        parts.append(f"namespaces/{namespace}")
    parts.append("events" if resource == "newevents" else resource)
    parts += [p for p in (name, subresource) if p]
    return "/".join(parts)


class Client:
    """Talks to the server at `url` as the holder of `token`. One connection per thread."""

    def __init__(self, url, token=None, ca=None, insecure=False, accept="application/json"):
        parts = urllib.parse.urlsplit(url)
        self.url, self.host, self.port, self.token = url, parts.hostname, parts.port, token
        self._accept = accept
        self._tls = None
        if parts.scheme == "https":
            self._tls = ssl.create_default_context(cafile=ca)
            if insecure:
                self._tls.check_hostname = False
                self._tls.verify_mode = ssl.CERT_NONE
        self._local = threading.local()

    def connect(self, timeout=30):
        if self._tls:
            return http.client.HTTPSConnection(self.host, self.port, timeout=timeout, context=self._tls)
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout)

    def headers(self, more=None):
        headers = {"Accept": self._accept}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        return {**headers, **(more or {})}

    def exchange(self, method, path, body=None, headers=None, query=None):
        """(code, headers, body) of one request, whatever the code is."""
        if query:
            path += "?" + urllib.parse.urlencode(query)
        data = None
        headers = dict(headers or {})
        if body is not None:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            headers.setdefault("Content-Type", "application/json")
        for attempt in (0, 1):
            connection = getattr(self._local, "connection", None)
            fresh = connection is None
            if fresh:
                connection = self._local.connection = self.connect()
            try:
                connection.request(method, path, body=data, headers=self.headers(headers))
                answer = connection.getresponse()
                content = answer.read()
                if answer.will_close:
                    self.close()
                return answer.status, dict(answer.headers), content
            except (http.client.HTTPException, OSError) as error:
                self.close()
                # A kept connection may have ended since; that says nothing about the server.
                if fresh or attempt or not isinstance(
                    error, (http.client.RemoteDisconnected, ConnectionError, ssl.SSLError)
                ):
                    raise error if isinstance(error, OSError) else OSError(repr(error)) from error
        raise AssertionError("not reached")

    def close(self):
        connection = getattr(self._local, "connection", None)
        if connection:
            connection.close()
        self._local.connection = None

    def call(self, method, path, body=None, headers=None, query=None):
        """The JSON answer; ApiError for any code that is not 2xx."""
        code, _, content = self.exchange(method, path, body, headers, query)
        if not 200 <= code < 300:
            raise ApiError(method, path, code, content.decode(errors="replace"))
        return json.loads(content) if content else {}

    def get(self, resource, namespace=None, name=None, **query):
        return self.call("GET", path_of(resource, namespace, name), query=query)

    def find(self, resource, namespace, name):
        """The object, or None when there is none."""
        try:
            return self.get(resource, namespace, name)
        except ApiError as error:
            if error.code == 404:
                return None
            raise

    def list(self, resource, namespace=None, **query):
        return self.get(resource, namespace, **query).get("items") or []

    def create(self, resource, body, namespace=None):
        return self.call("POST", path_of(resource, namespace), body)

    def update(self, resource, body, namespace=None, subresource=None):
        path = path_of(resource, namespace, body["metadata"]["name"], subresource)
        return self.call("PUT", path, body)

    def patch(self, resource, name, body, namespace=None, subresource=None, kind="merge-patch+json"):
        path = path_of(resource, namespace, name, subresource)
        return self.call("PATCH", path, body, {"Content-Type": f"application/{kind}"})

    def delete(self, resource, name, namespace=None, grace=None):
        """Deletes; an object that is not there any more is fine."""
        body = {"kind": "DeleteOptions", "apiVersion": "v1"}
        if grace is not None:
            body["gracePeriodSeconds"] = grace
        try:
            return self.call("DELETE", path_of(resource, namespace, name), body)
        except ApiError as error:
            if error.code != 404:
                raise
            return None

    def bind(self, namespace, name, node):
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": name, "namespace": namespace},
            "target": {"kind": "Node", "name": node},
        }
        return self.call("POST", path_of("pods", namespace, name, "binding"), body)


class History:
    """Everything that happens to the objects of one kind, seen through a watch of its own.

    Starts anew from a list when the server goes away, as any good client does; what happened in
    between is then missing from `events`.
    """

    def __init__(self, client, resource, namespace=None):
        self._client = client
        self._path = path_of(resource, namespace)
        self._lock = threading.Condition()
        self._events = []
        self._stopped = False
        self._connection = None
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._ready.wait(30)

    def events(self, name=None):
        """[(type, object)] in order, of one object or of all."""
        with self._lock:
            return [e for e in self._events if name is None or e[1]["metadata"]["name"] == name]

    def stop(self):
        self._stopped = True
        connection = self._connection
        if connection is not None and connection.sock is not None:
            try:
                connection.sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self._thread.join(10)

    def _run(self):
        pause = threading.Event()
        while not self._stopped:
            try:
                self._follow()
            except (OSError, ValueError, http.client.HTTPException, AttributeError, KeyError):
                pass
            pause.wait(0.05)

    def _follow(self):
        connection = self._connection = self._client.connect(timeout=None)
        try:
            connection.request("GET", self._path, headers=self._client.headers())
            listed = json.loads(connection.getresponse().read())
            for item in listed.get("items") or []:
                self._add("LISTED", item)
            version = listed["metadata"]["resourceVersion"]
            query = f"?watch=true&resourceVersion={version}"
            connection.request("GET", self._path + query, headers=self._client.headers())
            answer = connection.getresponse()
            self._ready.set()
            while not self._stopped:
                line = answer.readline()
                if not line:
                    return
                event = json.loads(line)
                if event["type"] not in ("BOOKMARK", "ERROR"):
                    self._add(event["type"], event["object"])
        finally:
            connection.close()

    def _add(self, kind, item):
        with self._lock:
            self._events.append((kind, item))
            self._lock.notify_all()
