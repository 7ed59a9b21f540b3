"""Who we are, whom we trust, and what is said when that goes wrong."""
import base64
import json
import os
import re
import stat

from harness.certificates import Authority
from harness.registry import case
from harness.servers import PLAIN_TOKEN

HERE = ["IP:127.0.0.1", "DNS:localhost"]


class Front:
    """A TLS proxy in front of the server, with an authority of its own."""

    def __init__(self, w, names=HERE, expired=False, clients=False, token=None):
        self.authority = Authority(w.folder, "front")
        certificate = self.authority.issue("apiserver", names=names, expired=expired)
        ca = self.authority.certificate
        self.proxy = w.proxy(
            certificate=certificate, client_ca=ca if clients else None, expect_token=token
        )
        self.w = w

    def scheduler(self, user, cluster=None, ready=True, name=None):
        trusted = {"certificate-authority": self.authority.certificate}
        path = self.w.kubeconfig(
            name or "front",
            server=self.proxy.url,
            user=user,
            cluster=trusted if cluster is None else cluster,
        )
        return self.w.start_scheduler(name, kubeconfig=path, ready=ready)


def complains(w, scheduler, pattern):
    """It says what is wrong, goes on trying, is not ready and schedules nothing."""
    w.pod("web")
    w.eventually(
        f"a message that matches {pattern}",
        lambda: re.search(pattern, scheduler.log(), re.IGNORECASE),
    )
    assert scheduler.child.running(), scheduler.log()[-1000:]
    w.eventually("it to say that it is not ready", scheduler.unready)
    assert w.unbound("web")


def works(w):
    w.node("only")
    w.pod("web")
    assert w.bound("web") == ["only"]


@case(needs=("openssl",))
def a_token(w):
    front = Front(w, token="right")
    front.scheduler({"token": "right"})
    works(w)


@case(needs=("openssl",))
def a_wrong_token(w):
    front = Front(w, token="right")
    scheduler = front.scheduler({"token": "wrong"}, ready=False)
    complains(w, scheduler, "unauthorized|provide credentials")


@case(needs=("openssl",))
def a_token_file_that_rotates(w):
    front = Front(w, token="one")
    path = os.path.join(w.folder, "token")
    with open(path, "w") as f:
        f.write("one\n")
    scheduler = front.scheduler({"tokenFile": path})
    works(w)
    front.proxy.expect_token = "two"
    with open(path + ".new", "w") as f:
        f.write("two\n")
    os.rename(path + ".new", path)
    front.proxy.cut_watches()
    w.pod("after")
    assert w.bound("after", seconds=150) == ["only"]
    assert scheduler.child.running()


@case(needs=("openssl",))
def a_credential_plugin(w):
    front = Front(w, token="from-a-plugin")
    credential = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": {"token": "from-a-plugin"},
    }
    path = os.path.join(w.folder, "plugin.sh")
    with open(path, "w") as f:
        f.write(f"#!/bin/sh\necho '{json.dumps(credential)}'\n")
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
    front.scheduler(
        {
            "exec": {
                "apiVersion": "client.authentication.k8s.io/v1",
                "command": path,
                "interactiveMode": "Never",
            }
        }
    )
    works(w)


@case(needs=("openssl",))
def a_client_certificate(w):
    front = Front(w, clients=True)
    certificate, key = front.authority.issue("system:kube-scheduler")
    front.scheduler({"client-certificate": certificate, "client-key": key})
    works(w)


@case(needs=("openssl",))
def certificates_inside_the_kubeconfig(w):
    front = Front(w, clients=True)
    certificate, key = front.authority.issue("system:kube-scheduler")

    def inline(path):
        with open(path, "rb") as f:
            return base64.b64encode(f.read()).decode()

    front.scheduler(
        {"client-certificate-data": inline(certificate), "client-key-data": inline(key)},
        {"certificate-authority-data": inline(front.authority.certificate)},
    )
    works(w)


@case(needs=("openssl",))
def an_expired_client_certificate(w):
    front = Front(w, clients=True)
    certificate, key = front.authority.issue("system:kube-scheduler", expired=True)
    user = {"client-certificate": certificate, "client-key": key}
    scheduler = front.scheduler(user, ready=False)
    complains(w, scheduler, "expired")


@case(needs=("openssl",))
def an_expired_server_certificate(w):
    front = Front(w, expired=True)
    scheduler = front.scheduler({"token": "any"}, ready=False)
    complains(w, scheduler, "certificate has expired")
    assert not front.proxy.exchanges(), "nothing may be asked of a server that is not trusted"


@case(needs=("openssl",))
def a_server_of_an_unknown_authority(w):
    front = Front(w)
    other = Authority(w.folder, "other")
    scheduler = front.scheduler(
        {"token": "any"}, {"certificate-authority": other.certificate}, ready=False
    )
    complains(w, scheduler, "unknown authority|local issuer|self.signed|certificate verify failed")
    assert not front.proxy.exchanges()


@case(needs=("openssl",))
def a_server_of_another_name(w):
    front = Front(w, names=["DNS:elsewhere.example"])
    scheduler = front.scheduler({"token": "any"}, ready=False, name="strict")
    complains(
        w,
        scheduler,
        "doesn't contain any IP SANs|valid for elsewhere|not match|mismatch|no alternative certificate",
    )
    assert not front.proxy.exchanges()
    scheduler.kill()
    trusted = {
        "certificate-authority": front.authority.certificate,
        "tls-server-name": "elsewhere.example",
    }
    w.node("only")
    front.scheduler(w.server.user(), trusted, name="told")
    assert w.bound("web") == ["only"]


@case(needs=("openssl",))
def told_not_to_verify(w):
    front = Front(w, expired=True, names=["DNS:elsewhere.example"])
    front.scheduler(w.server.user(), {"insecure-skip-tls-verify": True})
    works(w)


@case()
def no_token_goes_over_an_open_line(w):
    proxy = w.proxy()
    w.start_scheduler(kubeconfig=w.kubeconfig("open", proxy.url, {"token": "secret"}, {}))
    works(w)
    told = [e for e in proxy.exchanges() if "authorization" in e.headers]
    assert not told, told[0].path


@case()
def a_kubeconfig_that_is_not_there(w):
    path = os.path.join(w.folder, "nowhere.kubeconfig")
    scheduler = w.start_scheduler(kubeconfig=path, ready=False)
    assert scheduler.child.wait(60) == 1, scheduler.child.exit_code
    assert f"stat {path}: no such file or directory" in scheduler.log(), scheduler.log()


@case()
def a_kubeconfig_that_is_none(w):
    path = os.path.join(w.folder, "broken.kubeconfig")
    with open(path, "w") as f:
        f.write("this: is: not: yaml\n")
    scheduler = w.start_scheduler(kubeconfig=path, ready=False)
    assert scheduler.child.wait(60) == 1, scheduler.child.exit_code
    assert "error loading config file" in scheduler.log(), scheduler.log()


@case(servers=("real",))
def a_user_without_permissions(w):
    scheduler = w.start_scheduler(
        kubeconfig=w.kubeconfig("plain", user={"token": PLAIN_TOKEN}), ready=False
    )
    complains(w, scheduler, r'forbidden: User \\?"plain\\?" cannot list resource')


@case(servers=("real",))
def a_token_that_the_real_server_does_not_know(w):
    scheduler = w.start_scheduler(
        kubeconfig=w.kubeconfig("wrong", user={"token": "nobody-knows"}), ready=False
    )
    complains(w, scheduler, "unauthorized|provide credentials")
