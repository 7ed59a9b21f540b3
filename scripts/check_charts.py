#!/usr/bin/env python3
"""Checks the Helm chart and the alert rules with the programs that use them.

    check_charts.py FOLDER-OF-HELM-AND-PROMTOOL PATH-OF-BERTH

The chart is linted, packed and rendered with its own values and with each file of its ci/. What comes out is
readable, whole and consistent; berth accepts its workloads (every field is known), its flags and its configuration;
roles are those of packaging/rbac.yaml, and without values the Deployment is that of packaging/deployment.yaml.
Values that would leave pods to two schedulers or to none are refused. promtool checks and tests the rules, and parses
every query of the dashboard. Run from the top of the tree.
"""
import copy
import json
import os
import subprocess
import sys
import tarfile
import tempfile

import yaml

CHART = "packaging/helm/berth"
MONITORING = "packaging/monitoring"
# Made by others, outside the chart.
ROLES_THAT_ARE_THERE = {("Role", "extension-apiserver-authentication-reader"), ("ClusterRole", "system:monitoring")}
API_VERSIONS = {
    "ConfigMap": "v1", "Service": "v1", "ServiceAccount": "v1", "Deployment": "apps/v1",
    "PodDisruptionBudget": "policy/v1",
    **{kind: "rbac.authorization.k8s.io/v1" for kind in ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")},
    **{kind: "monitoring.coreos.com/v1" for kind in ("ServiceMonitor", "PrometheusRule")},
}
ACCESS = ("ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")

# What is set, and a part of the sentence that refuses it.
REFUSED = (
    (["profiles[0].schedulerName=default-scheduler"], "two schedulers take the same pods"),
    (["schedulerName=default-scheduler"], "two schedulers take the same pods"),
    (["leaderElection.resourceName=kube-scheduler"], "one of the two schedulers waits for ever"),
    (["leaderElection.enabled=false"], "several replicas need leader election"),
    (["replace=true", "profiles[0].schedulerName=berth"], "replace needs a profile named default-scheduler"),
    (["replace=true", "replicas=1", "leaderElection.enabled=false"], "replace needs leader election"),
    (["replace=true", "leaderElection.resourceName=berth"], "replace needs the lease"),
    (["serviceAccount.create=false"], "serviceAccount.name is needed"),
    (["monitoring.serviceMonitor.enabled=true", "monitoring.serviceMonitor.prometheus.name=p"], "namespace is needed"),
    (["replace=yes"], "got string, want boolean"),
    (["replica=3"], "additional properties 'replica' not allowed"),
    (["config.leaderElection.leaderElect=false"], "/config/leaderElection"),
    (["profiles[0].percentageOfNodesToScore=5"], "missing property 'schedulerName'"),
    (["leaderElection.leaseDuration=15"], "leaseDuration"),
)

faults = []


def expect(true, text):
    if not true:
        faults.append(text)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


class Reader(yaml.SafeLoader):
    """Refuses a key that stands twice, as Kubernetes does."""

    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.YAMLError(f"{key} stands twice{node.start_mark}")
        return super().construct_mapping(node, deep)


def objects_in(text):
    return [one for one in yaml.load_all(text, Reader) if one]


def identity(one):
    return one["kind"], one["metadata"].get("namespace", ""), one["metadata"]["name"]


def of_kind(objects, *kinds):
    return [one for one in objects if one["kind"] in kinds]


# ---- the chart ------------------------------------------------------------------------------------


class Charts:
    def __init__(self, tools, berth, folder):
        self._helm, self._promtool = os.path.join(tools, "helm"), os.path.join(tools, "promtool")
        self._berth, self._folder = berth, folder
        # Nothing of the user's: neither a cluster nor what helm keeps.
        self._environment = {**os.environ, "KUBECONFIG": os.path.join(folder, "none"), "HELM_NO_PLUGINS": "1", **{
            f"HELM_{what}_HOME": os.path.join(folder, what) for what in ("CACHE", "CONFIG", "DATA")}}

    def helm(self, *arguments):
        return run(self._helm, *arguments, env=self._environment)

    def template(self, *arguments):
        return self.helm("template", "berth", CHART, "--namespace", "kube-system", *arguments)

    def render(self, name, *arguments):
        done = self.template(*arguments)
        if done.returncode != 0:
            faults.append(f"{name}: {done.stderr}")
            return []
        try:
            objects = objects_in(done.stdout)
        except yaml.YAMLError as error:
            faults.append(f"{name}: {error}")
            return []
        check_objects(name, objects)
        self.check_workloads(name, done.stdout)
        return objects

    def check_workloads(self, name, text):
        """berth knows every field of Deployment, Service and PodDisruptionBudget, and what kind an object is."""
        path = os.path.join(self._folder, "rendered.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        done = run(self._berth, "simulate", "--strict", "-f", path)
        expect(done.returncode == 0, f"{name}: {done.stderr}")

    def configuration(self, name, objects):
        """What berth makes of the flags and the configuration that the Deployment gives it."""
        deployment, = of_kind(objects, "Deployment")
        config, = (one for one in of_kind(objects, "ConfigMap") if "scheduler.yaml" in one["data"])
        text = config["data"]["scheduler.yaml"]
        given, written = (os.path.join(self._folder, part) for part in ("given.yaml", "written.yaml"))
        with open(given, "w", encoding="utf-8") as file:
            file.write(text)
        program, command, *flags = deployment["spec"]["template"]["spec"]["containers"][0]["command"]
        expect((program, command) == ("berth", "scheduler"), f"{name}: runs {program} {command}")
        expect("--config=/etc/berth/scheduler.yaml" in flags, f"{name}: the configuration is not given to berth")
        flags = [flag.replace("/etc/berth/scheduler.yaml", given) for flag in flags]
        # In a pod the way to the API server comes from the environment.
        done = run(self._berth, "scheduler", *flags, "--master=https://127.0.0.1:6443", "--write-config-to", written)
        if done.returncode != 0:
            faults.append(f"{name}: berth refuses its flags or configuration: {done.stderr[-300:]}")
            return {}
        return yaml.load(read(written), Reader)

    def check_lint(self, values):
        for arguments in [[]] + [["--values", path] for path in values]:
            done = self.helm("lint", "--strict", CHART, *arguments)
            expect(done.returncode == 0, f"helm lint {arguments}: {done.stdout}{done.stderr}")

    def check_package(self):
        done = self.helm("package", CHART, "--destination", self._folder)
        packages = [name for name in os.listdir(self._folder) if name.endswith(".tgz")]
        if done.returncode != 0 or len(packages) != 1:
            faults.append(f"helm package: {done.stderr}")
            return
        path = os.path.join(self._folder, packages[0])
        with tarfile.open(path) as package:
            members = {member.name: member for member in package}
        for name in ("rules.yaml", "dashboard.json"):
            member = members.get(f"berth/files/{name}")
            expect(member and member.isfile(), f"the packed chart has no files/{name}")
        expect(not any(name.startswith("berth/ci/") for name in members), "the packed chart has test values")
        done = self.helm("template", "berth", path, "--namespace", "kube-system")
        expect(done.stdout == self.template().stdout, "the packed chart renders differently")

    def check_refusals(self):
        for settings, why in REFUSED:
            done = self.template(*(argument for setting in settings for argument in ("--set", setting)))
            expect(done.returncode != 0 and why in done.stderr,
                   f"{settings}: should be refused with '{why}', but: {done.stderr or 'is accepted'}")

    def notes(self, *arguments):
        done = self.helm("install", "berth", CHART, "--namespace", "kube-system", "--dry-run=client", *arguments)
        expect(done.returncode == 0 and "NOTES:" in done.stdout, f"helm install --dry-run {arguments}: {done.stderr}")
        return done.stdout.partition("NOTES:")[2]

    def check_notes(self):
        second, replace = self.notes(), self.notes("--set", "replace=true")
        expect("schedulerName: berth\n" in second, "the notes do not say how a pod chooses berth")
        expect("lease berth-scheduler" in second, "the notes do not name the lease")
        expect("mv /etc/kubernetes/manifests/kube-scheduler.yaml" in replace,
               "the notes do not say how kube-scheduler is taken away")
        expect("lease kube-scheduler" in replace, "the notes do not name the lease")

    # ---- rules and dashboard --------------------------------------------------------------------

    def promtool(self, *arguments):
        done = run(self._promtool, *arguments)
        expect(done.returncode == 0, f"promtool {' '.join(arguments)}: {done.stdout}{done.stderr}")

    def check_rules(self):
        self.promtool("check", "rules", "--lint=all", "--lint-fatal", f"{MONITORING}/rules.yaml")
        self.promtool("test", "rules", f"{MONITORING}/rules_test.yaml")

    def check_queries(self):
        """Every query of the dashboard, as if it were a rule."""
        dashboard = json.loads(read(f"{MONITORING}/dashboard.json"))
        panels = [panel for one in dashboard["panels"] for panel in [one, *one.get("panels", [])]]
        queries = [target["expr"].replace("$__rate_interval", "5m")
                   for panel in panels for target in panel.get("targets", [])]
        expect(len(queries) > 40, f"only {len(queries)} queries found in the dashboard: this check is out of date")
        self.check_rendered_rules("dashboard", {"groups": [{"name": "queries", "rules": [
            {"record": f"query:{number}", "expr": query} for number, query in enumerate(queries)]}]})

    def check_rendered_rules(self, name, rules):
        path = os.path.join(self._folder, f"{name}.rules.yaml")
        with open(path, "w", encoding="utf-8") as file:
            yaml.safe_dump(rules, file)
        self.promtool("check", "rules", "--lint=all", "--lint-fatal", path)


def matches(selector, labels):
    return selector and selector.items() <= labels.items()


def check_objects(name, objects):
    """That objects are whole, and agree with each other."""
    seen = set()
    for one in objects:
        expect(API_VERSIONS.get(one["kind"]) == one["apiVersion"], f"{name}: {one['apiVersion']} {one['kind']}")
        expect(identity(one) not in seen, f"{name}: {identity(one)} is there twice")
        seen.add(identity(one))
        expect(one["metadata"].get("labels", {}).get("app.kubernetes.io/instance") == "berth",
               f"{name}: {identity(one)} has no labels")
    deployment, = of_kind(objects, "Deployment")
    template = deployment["spec"]["template"]
    labels, spec = template["metadata"]["labels"], template["spec"]
    expect(matches(deployment["spec"]["selector"]["matchLabels"], labels), f"{name}: the Deployment selects other pods")
    for budget in of_kind(objects, "PodDisruptionBudget"):
        expect(matches(budget["spec"]["selector"]["matchLabels"], labels), f"{name}: the budget is for other pods")
    service, = of_kind(objects, "Service")
    ports = {port["name"] for port in spec["containers"][0]["ports"]}
    expect(matches(service["spec"]["selector"], labels), f"{name}: the Service selects other pods")
    expect({port["targetPort"] for port in service["spec"]["ports"]} <= ports, f"{name}: the Service's port")
    for monitor in of_kind(objects, "ServiceMonitor"):
        expect(matches(monitor["spec"]["selector"]["matchLabels"], service["metadata"]["labels"]),
               f"{name}: the ServiceMonitor selects another Service")
        scraped = {endpoint["port"] for endpoint in monitor["spec"]["endpoints"]}
        expect(scraped <= {port["name"] for port in service["spec"]["ports"]}, f"{name}: the ServiceMonitor's port")
    for volume in spec["volumes"]:
        expect(("ConfigMap", "kube-system", volume["configMap"]["name"]) in seen, f"{name}: no ConfigMap for {volume}")
    roles = {(one["kind"], one["metadata"]["name"]) for one in of_kind(objects, "Role", "ClusterRole")}
    for binding in of_kind(objects, "RoleBinding", "ClusterRoleBinding"):
        role = binding["roleRef"]["kind"], binding["roleRef"]["name"]
        expect(role in roles | ROLES_THAT_ARE_THERE, f"{name}: there is no {role}")
    if of_kind(objects, "ServiceAccount"):
        expect(("ServiceAccount", "kube-system", spec["serviceAccountName"]) in seen, f"{name}: the ServiceAccount")


def bare(objects, lease=None):
    """Objects by identity, without what a chart adds; with another lease, if one is named."""
    found = {}
    for one in copy.deepcopy(objects):
        one["metadata"].pop("labels", None)
        for rule in one.get("rules", []):
            if lease and rule["resources"] == ["leases"] and "resourceNames" in rule:
                rule["resourceNames"] = [lease]
        found[identity(one)] = one
    return found


def without_labels(deployment):
    """What a Deployment does, whatever its pods are called."""
    one = copy.deepcopy(deployment)
    one["metadata"].pop("labels")
    one["spec"].pop("selector")
    template = one["spec"]["template"]
    template.pop("metadata")
    affinity = template["spec"]["affinity"]["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
    affinity[0]["podAffinityTerm"].pop("labelSelector")
    template["spec"]["containers"][0].pop("imagePullPolicy", None)
    return one


def check_access(name, objects, lease):
    there = bare(of_kind(objects_in(read("packaging/rbac.yaml")), *ACCESS), lease)
    expect(bare(of_kind(objects, *ACCESS)) == there, f"{name}: its roles are not those of packaging/rbac.yaml")


def check_configuration(name, written, profiles, lease):
    if not written:
        return
    expect([one["schedulerName"] for one in written["profiles"]] == profiles,
           f"{name}: berth's profiles are {written['profiles']}, not {profiles}")
    election = written["leaderElection"]
    shown = f"{election['resourceNamespace']}/{election['resourceName']}" if election["leaderElect"] else None
    expect(shown == lease, f"{name}: berth's lease is {shown}, not {lease}")


def check_second(charts):
    objects = charts.render("default values")
    check_access("default values", objects, "berth-scheduler")
    written = charts.configuration("default values", objects)
    check_configuration("default values", written, ["berth"], "kube-system/berth-scheduler")
    manifests = objects_in(read("packaging/deployment.yaml"))
    theirs, = of_kind(manifests, "Deployment")
    ours, = of_kind(objects, "Deployment")
    expect(without_labels(ours) == without_labels(theirs),
           "without values: not the Deployment of packaging/deployment.yaml")
    expect(written == charts.configuration("packaging/deployment.yaml", manifests),
           "without values: not the configuration of packaging/deployment.yaml")


def check_replace(charts):
    name = "ci/replace-values.yaml"
    objects = charts.render(name, "--values", f"{CHART}/{name}")
    check_access(name, objects, "kube-scheduler")
    check_configuration(name, charts.configuration(name, objects), ["default-scheduler"], "kube-system/kube-scheduler")


def check_profiles(charts):
    name = "ci/profiles-values.yaml"
    objects = charts.render(name, "--values", f"{CHART}/{name}")
    written = charts.configuration(name, objects)
    check_configuration(name, written, ["berth-packing", "berth-spreading"], "shop/packing")
    if written:
        fit, = (one["args"] for one in written["profiles"][0]["pluginConfig"] if one["name"] == "NodeResourcesFit")
        expect(fit["scoringStrategy"]["type"] == "MostAllocated", f"{name}: the arguments of a plugin are lost")
        expect((written["parallelism"], written["clientConnection"]["qps"]) == (8, 200), f"{name}: config is lost")
        expect(len(written["extenders"]) == 1, f"{name}: the extender is lost")
    role, = of_kind(objects, "Role")
    expect(identity(role) == ("Role", "shop", "packer"), f"{name}: the right to the lease is at {identity(role)}")


def check_single(charts):
    name = "ci/single-values.yaml"
    objects = charts.render(name, "--values", f"{CHART}/{name}")
    check_configuration(name, charts.configuration(name, objects), ["night"], None)
    expect({one["kind"] for one in objects} == {"ConfigMap", "Service", "Deployment"}, f"{name}: makes more than that")
    deployment, = of_kind(objects, "Deployment")
    expect(deployment["spec"]["strategy"] == {"type": "Recreate"}, f"{name}: two would schedule during a rollout")


def check_monitoring(charts):
    name = "ci/monitoring-values.yaml"
    for release in ("berth-scheduler", "other"):
        objects = charts.render(name, "--values", f"{CHART}/{name}", "--set", f"fullnameOverride={release}")
        rule, = of_kind(objects, "PrometheusRule")
        rules = yaml.load(read(f"{MONITORING}/rules.yaml").replace('job="berth-scheduler"', f'job="{release}"'), Reader)
        expect(rule["spec"] == rules, f"{name}: the PrometheusRule is not rules.yaml for {release}")
        charts.check_rendered_rules(release, rule["spec"])
        service, = of_kind(objects, "Service")
        expect(service["metadata"]["name"] == release, f"{name}: the Service, which names the job, is not {release}")
        dashboard, = (one for one in of_kind(objects, "ConfigMap") if "berth-scheduler.json" in one["data"])
        expect(dashboard["data"]["berth-scheduler.json"] == read(f"{MONITORING}/dashboard.json").strip(),
               f"{name}: the ConfigMap does not hold dashboard.json")
        expect(dashboard["metadata"]["namespace"] == "monitoring", f"{name}: the dashboard's namespace")
        bindings = of_kind(objects, "ClusterRoleBinding")
        readers = [one["subjects"] for one in bindings if one["roleRef"]["name"] == "system:monitoring"]
        expect(readers == [[{"kind": "ServiceAccount", "name": "prometheus", "namespace": "monitoring"}]],
               f"{name}: {readers} may read metrics")


def main():
    tools, berth = sys.argv[1:]
    values = sorted(os.path.join(CHART, "ci", name) for name in os.listdir(os.path.join(CHART, "ci")))
    with tempfile.TemporaryDirectory() as folder:
        charts = Charts(tools, os.path.abspath(berth), folder)
        charts.check_lint(values)
        charts.check_package()
        charts.check_refusals()
        charts.check_notes()
        for check in (check_second, check_replace, check_profiles, check_single, check_monitoring):
            check(charts)
        expect(len(values) == 4, f"{values}: each of these files wants a check")
        charts.check_rules()
        charts.check_queries()
    print("".join(f"  {fault}\n" for fault in faults), end="")
    sys.exit(1 if faults else 0)


main()
