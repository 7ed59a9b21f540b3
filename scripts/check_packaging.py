#!/usr/bin/env python3
"""Checks that what packaging/ says, berth accepts.

    check_packaging.py manifests PATH-OF-BERTH VERSION
    check_packaging.py debian PATH-OF-CPACK BUILD-FOLDER VERSION

`manifests`: the manifests and the systemd unit can be read, their flags are flags of berth, names
and versions agree with each other, and the RBAC rules cover every kind that is watched.
`debian`: makes the package, unpacks it, looks at what is in it and runs the program. Run from the top
of the tree.
"""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

faults = []


def expect(true, text):
    if not true:
        faults.append(text)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


# ---- manifests ------------------------------------------------------------------------------------


def block(text, key):
    """The lines below `key:` that stand deeper, or are items at its own depth."""
    start = re.search(rf"^( *){re.escape(key)}:(?: \|)?\n", text, re.M)
    if not start:
        return ""
    depth = len(start[1])
    lines = []
    for line in text[start.end():].split("\n"):
        at = len(line) - len(line.lstrip())
        if line.strip() and (at < depth or (at == depth and not line.lstrip().startswith("- "))):
            break
        lines.append(line)
    return "\n".join(lines)


def command_of(manifest):
    return [line.strip()[2:] for line in block(read(manifest), "command").split("\n") if line.strip()]


def accepted(berth, source, flags, files):
    """The configuration that berth makes of these flags; `files` stand in for those they name."""
    with tempfile.TemporaryDirectory() as folder:
        for number, (path, text) in enumerate(files.items()):
            stand_in = os.path.join(folder, str(number))
            with open(stand_in, "w", encoding="utf-8") as file:
                file.write(text)
            flags = [flag.replace(path, stand_in) for flag in flags]
        written = os.path.join(folder, "written.yaml")
        done = run(berth, "scheduler", *flags, "--write-config-to", written)
        if done.returncode != 0:
            faults.append(f"{source}: its flags are refused: {done.stderr[-300:]}")
            return ""
        return read(written)


KUBECONFIG = json.dumps({
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "c",
    "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:6443"}}],
    "users": [{"name": "u", "user": {"token": "t"}}],
    "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
})


def check_yaml(berth):
    for name in ("rbac", "deployment", "static-pod", "explain-reader", "explain-asker", "ui-viewer", "recorder",
                 "podgroups-crd"):
        done = run(berth, "simulate", "-f", f"packaging/{name}.yaml")
        expect(done.returncode == 0, f"packaging/{name}.yaml: {done.stderr}")
    broken = run(berth, "simulate", "-f", "packaging/Containerfile")
    expect(broken.returncode != 0, "what is no manifest must not pass as one")


def check_second_scheduler(berth):
    deployment = read("packaging/deployment.yaml")
    command = command_of("packaging/deployment.yaml")
    expect(command[:2] == ["berth", "scheduler"], f"deployment.yaml runs {command}")
    config = "\n".join(line[4:] for line in block(deployment, "  scheduler.yaml").split("\n"))
    # In a pod the way to the API server comes from the environment.
    flags = command[2:] + ["--master=https://127.0.0.1:6443"]
    written = accepted(berth, "deployment.yaml", flags, {"/etc/berth/scheduler.yaml": config})
    expect("schedulerName: berth\n" in written, "deployment.yaml: the profile is not called berth")
    lease = re.search(r"resourceName: (\S+)", written)
    rbac = read("packaging/rbac.yaml")
    expect(lease and f"resourceNames: [{lease[1]}]" in rbac,
           "rbac.yaml does not name the lease of deployment.yaml")
    expect(lease and lease[1] != "kube-scheduler", "the lease is that of the first scheduler")
    account = re.search(r"serviceAccountName: (\S+)", deployment)[1]
    subjects = re.findall(r"- kind: ServiceAccount\n  name: (\S+)\n  namespace: (\S+)", rbac)
    expect(subjects and set(subjects) == {(account, "kube-system")},
           f"rbac.yaml is for {subjects}, deployment.yaml runs as {account}")


def check_static_pod(berth):
    command = command_of("packaging/static-pod.yaml")
    expect(command[0] == "kube-scheduler", f"static-pod.yaml runs {command}")
    written = accepted(berth, "static-pod.yaml", command[1:],
                       {"/etc/kubernetes/scheduler.conf": KUBECONFIG})
    expect("resourceName: kube-scheduler" in written, "static-pod.yaml: not kube-scheduler's lease")


def check_unit(berth):
    unit = read("packaging/berth-scheduler.service")
    start = re.search(r"^ExecStart=((?:.*\\\n)*.*)$", unit, re.M)[1].replace("\\\n", " ")
    defaults = re.search(r'^BERTH_SCHEDULER_FLAGS="(.*)"$', read("packaging/berth-scheduler.default"),
                         re.M)[1]
    program, *flags = shlex.split(start.replace("$BERTH_SCHEDULER_FLAGS", defaults))
    expect(program == "/usr/bin/kube-scheduler", f"the unit starts {program}")
    accepted(berth, "berth-scheduler.service", flags, {"%d/kubeconfig": KUBECONFIG})


def check_rules_cover_what_is_watched():
    allowed = set()
    for groups, resources, verbs in re.findall(
            r"- apiGroups: \[(.*)\]\n  resources: \[(.*)\]\n  verbs: \[(.*)\]",
            read("packaging/rbac.yaml")):
        if {"list", "watch"} <= set(verbs.split(", ")):
            allowed |= {(group.strip('"'), resource)
                        for group in groups.split(", ") for resource in resources.split(", ")}
    watched = re.findall(r'\{ObjectKind::k\w+, "([^"]+)", "\w+",\s*"(\w+)"',
                         read("src/kube/watched_kinds.cc"))
    expect(len(watched) >= 18, f"only {len(watched)} watched kinds found: this check is out of date")
    for version, resource in watched:
        group = version.rpartition("/")[0]
        expect((group, resource) in allowed, f"rbac.yaml: {resource} of '{group}' may not be watched")


def check_image(berth):
    command = re.search(r"\./dev run (.*?) &&", read("packaging/Containerfile"))[1]
    if command.startswith("-"):
        faults.append(f"packaging/Containerfile: ./dev run {command} is a sample cluster, which does not end")
        return
    done = run(berth, *shlex.split(command))
    expect(done.returncode == 0, f"packaging/Containerfile: berth {command}: {done.stderr[-300:]}")


def check_versions(version):
    for name in ("deployment.yaml", "static-pod.yaml", "Containerfile"):
        tags = set(re.findall(r"\bberth(?:-control-plane)?:(\d[\w.]*)", read(f"packaging/{name}")))
        expect(tags == {version}, f"packaging/{name} is for version {tags}, this is {version}")
    of_chart = set(re.findall(r"^(?:version|appVersion): (.*)$", read("packaging/helm/berth/Chart.yaml"), re.M))
    expect(of_chart == {version}, f"packaging/helm/berth/Chart.yaml is for version {of_chart}, this is {version}")
    newest = read("packaging/debian/changelog").split("\n")[0]
    expect(newest.startswith(f"berth ({version})"), f"packaging/debian/changelog ends with {newest}")


def check_manifests(berth, version):
    check_yaml(berth)
    check_second_scheduler(berth)
    check_static_pod(berth)
    check_unit(berth)
    check_image(berth)
    check_rules_cover_what_is_watched()
    check_versions(version)


# ---- the Debian package ---------------------------------------------------------------------------

FILES = (
    "usr/bin/berth", "usr/bin/kube-scheduler", "lib/systemd/system/berth-scheduler.service",
    "etc/default/berth-scheduler", "usr/share/man/man1/berth.1.gz",
    "usr/share/berth/workloads/basic.yaml", "usr/share/berth/workloads/templates/node.yaml",
    *(f"usr/share/doc/berth/{name}" for name in (
        "copyright", "changelog.gz", "docs/install.md", "docs/flags.md", "docs/metrics.md",
        "docs/replace-kube-scheduler.md", "packaging/rbac.yaml", "packaging/deployment.yaml",
        "packaging/static-pod.yaml", "packaging/helm/berth/Chart.yaml",
        "packaging/helm/berth/.helmignore", "packaging/helm/berth/values.schema.json",
        "packaging/helm/berth/templates/_helpers.tpl", "packaging/helm/berth/templates/NOTES.txt",
        "packaging/monitoring/README.md", "packaging/monitoring/rules.yaml",
        "packaging/monitoring/dashboard.json", "packaging/explain-reader.yaml",
        "packaging/explain-asker.yaml", "packaging/ui-viewer.yaml", "packaging/recorder.yaml",
        "docs/ui.md")),
)


def check_debian(cpack, build, version):
    with tempfile.TemporaryDirectory() as folder:
        made = run(cpack, "--config", os.path.join(build, "CPackConfig.cmake"), "-G", "DEB",
                   "-B", folder)
        packages = [name for name in os.listdir(folder) if name.endswith(".deb")]
        if made.returncode != 0 or len(packages) != 1:
            faults.append(f"cpack: {made.stdout}{made.stderr}")
            return
        package, root = os.path.join(folder, packages[0]), os.path.join(folder, "root")
        unpacked = run("dpkg-deb", "-x", package, root)
        expect(unpacked.returncode == 0, unpacked.stderr)
        there = {os.path.relpath(os.path.join(at, name), root)
                 for at, _, names in os.walk(root) for name in names}
        for name in FILES:
            expect(name in there, f"{packages[0]} has no {name}")
        for name in there:
            expect(not name.endswith((".a", ".h", ".cmake")), f"{packages[0]} has {name}")
        field = lambda name: run("dpkg-deb", "-f", package, name).stdout.strip()  # noqa: E731
        expect(field("Version") == version, f"its version is {field('Version')}")
        expect("libc6" in field("Depends"), f"it depends on '{field('Depends')}'")
        conffiles = run("dpkg-deb", "--info", package, "conffiles").stdout
        expect(conffiles == "/etc/default/berth-scheduler\n", f"its conffiles are '{conffiles}'")
        for script in ("postinst", "prerm", "postrm"):
            syntax = run("sh", "-n", input=run("dpkg-deb", "--info", package, script).stdout)
            expect(syntax.returncode == 0, f"{script}: {syntax.stderr}")
        says = run(os.path.join(root, "usr/bin/kube-scheduler"), "--version").stdout
        expect(says.startswith("Kubernetes v"), f"kube-scheduler --version says '{says}'")
        listed = run(os.path.join(root, "usr/bin/berth"), "bench", "--list", cwd=root).stdout
        expect("SchedulingBasic/500Nodes\n" in listed, f"berth bench --list says '{listed}'")


def main():
    what, *rest = sys.argv[1:]
    {"manifests": check_manifests, "debian": check_debian}[what](*rest)
    print("\n".join(faults))
    sys.exit(1 if faults else 0)


main()
