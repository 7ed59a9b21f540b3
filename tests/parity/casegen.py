#!/usr/bin/env python3
"""Generate random clusters for differential tests against upstream kube-scheduler.

    casegen.py TOPIC SEED [--nodes N] [--bound N] [--pending N] [--copies N] > cluster.json

Topics: basic resources affinity spread ports images volumes dra preempt mixed owners features victims edges
storage devices claims taintrules budgets resized imagevolumes namespaces capacity drivers entities groups
grouptopology grouppreempt. Every object is as an
API server would return it; pods with spec.nodeName are placed.

The stored cases depend on what a topic and a seed give: new things get topics of their own.
"""
import argparse, copy, json, random

import casegen_budgets
import casegen_claims
import casegen_devices
import casegen_fields
import casegen_groups
import casegen_storage
import casegen_taintrules
import casegen_topics

TOPICS = ["basic", "resources", "affinity", "spread", "ports", "images", "volumes", "dra", "preempt", "mixed", "owners", "features", "victims", "edges", "storage", "devices"]
TOPICS += ["claims", "taintrules", "budgets", *casegen_fields.TOPICS, *casegen_groups.TOPICS]

ZONE, REGION, HOST = "topology.kubernetes.io/zone", "topology.kubernetes.io/region", "kubernetes.io/hostname"
APPS, TIERS = ["web", "db", "cache", "batch", "ml"], ["front", "back", "mid"]
NAMESPACES = {"default": {"team": "a"}, "prod": {"team": "b", "env": "prod"}, "dev": {"team": "a", "env": "dev"}}


class Gen:
    def __init__(self, topic, seed, nodes, bound, pending):
        self.topic, self.R = topic, random.Random(f"{topic}-{seed}")
        self.t = "preempt" if topic in ("victims", "budgets") else casegen_groups.below(topic, seed)  # what lies below it
        self.nn, self.nb, self.np = nodes, bound, pending
        self.items, self.uid = [], 0
        self.claims = []

    def p(self, x):
        return self.R.random() < x

    def on(self, *topics):
        return self.t in topics or self.t == "mixed"

    def add(self, api, kind, name, ns=None, labels=None, annotations=None, **body):
        self.uid += 1
        m = {"name": name, "uid": f"{kind.lower()}-{self.uid:06d}", "creationTimestamp": "2026-01-01T00:00:00Z", "resourceVersion": str(self.uid)}
        if ns:
            m["namespace"] = ns
        if labels:
            m["labels"] = labels
        if annotations:
            m["annotations"] = annotations
        o = {"apiVersion": api, "kind": kind, "metadata": m, **body}
        self.items.append(o)
        return o

    # --- nodes -----------------------------------------------------------
    def node(self, i):
        R = self.R
        name = f"node-{i:03d}"
        labels = {HOST: name, "kubernetes.io/os": "linux", "kubernetes.io/arch": R.choice(["amd64", "arm64"])}
        if not self.p(.1):
            labels[ZONE] = R.choice(["z1", "z2", "z3"])
        if not self.p(.3):
            labels[REGION] = R.choice(["r1", "r2"])
        labels["disk"] = R.choice(["ssd", "hdd", "nvme"])
        if self.p(.8):
            labels["gen"] = R.choice(["1", "2", "3", "4", "5", "10", "x"])
        if self.p(.3):
            labels["rack"] = f"rack{R.randint(1, 5)}"
        if self.p(.05):
            labels[HOST] = f"alias-{i}"
        spec = {}
        if self.p(.35):
            spec["taints"] = [t for t in (
                {"key": "dedicated", "value": R.choice(["gpu", "infra"]), "effect": R.choice(["NoSchedule", "PreferNoSchedule", "NoExecute"])},
                {"key": "flaky", "effect": "PreferNoSchedule"},
                {"key": "spot", "value": "true", "effect": R.choice(["PreferNoSchedule", "NoSchedule"])}) if self.p(.45)]
            if not spec["taints"]:
                del spec["taints"]
        if self.p(.06):
            spec["unschedulable"] = True
            spec.setdefault("taints", []).append({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})
        alloc = {"cpu": R.choice(["2", "3920m", "4", "8", "15890m", "32"]), "memory": R.choice(["4Gi", "7910336Ki", "16Gi", "64G", "32Gi", "137438953472"]),
                 "pods": R.choice(["5", "30", "110"]), "ephemeral-storage": R.choice(["20Gi", "101241290752", "1Ti"])}
        if self.p(.25):
            alloc["nvidia.com/gpu"] = R.choice(["1", "2", "4", "8"])
        if self.p(.2):
            alloc["example.com/foo"] = R.choice(["3", "5", "100"])
        if self.p(.2):
            alloc["hugepages-2Mi"] = R.choice(["0", "64Mi", "1Gi"])
        if self.p(.03):
            alloc["cpu"] = "0"
        images = []
        if self.on("images") or self.p(.3):
            for k in range(6):
                if self.p(.4):
                    names = [f"registry.example.com/img{k}:v1", f"registry.example.com/img{k}@sha256:{k:064x}"]
                    if k == 3:
                        names = ["img3:latest"]
                    images.append({"names": names, "sizeBytes": R.choice([5, 22, 23, 24, 100, 250, 500, 1000, 3000]) * 1024 * 1024 + R.randint(0, 999)})
        status = {"capacity": dict(alloc), "allocatable": alloc, "conditions": [{"type": "Ready", "status": "True"}]}
        if images:
            status["images"] = images
        self.add("v1", "Node", name, labels=labels, spec=spec, status=status)

    # --- pods ------------------------------------------------------------
    def quantity(self, big=False):
        R = self.R
        r = {}
        if self.p(.8):
            r["cpu"] = R.choice(["1m", "50m", "100m", "250m", "0.3", "1", "1500m", "2", "3.5"])
        if self.p(.8):
            r["memory"] = R.choice(["1", "64Mi", "100M", "256Mi", "1Gi", "1.5Gi", "2G", "3000000000", "1e9", "200Mi", "128974848000m"])
        if self.p(.15):
            r["ephemeral-storage"] = R.choice(["1Gi", "5G", "12Gi", "0"])
        if self.p(.12):
            r["nvidia.com/gpu"] = R.choice(["1", "2", "0"])
        if self.p(.08):
            r["example.com/foo"] = R.choice(["1", "3", "4"])
        if self.p(.06):
            r["hugepages-2Mi"] = R.choice(["2Mi", "64Mi"])
        return r

    def selector(self):
        R = self.R
        k = R.random()
        if k < .06:
            return {}
        if k < .6:
            return {"matchLabels": {"app": R.choice(APPS)}}
        ops = [{"key": "app", "operator": "In", "values": R.sample(APPS, 2)}, {"key": "tier", "operator": "NotIn", "values": [R.choice(TIERS)]},
               {"key": "tier", "operator": "Exists"}, {"key": "canary", "operator": "DoesNotExist"}]
        return {"matchExpressions": R.sample(ops, R.randint(1, 2))}

    def pod_term(self):
        R = self.R
        t = {"topologyKey": R.choice([ZONE, HOST, ZONE, REGION, "rack"])}
        if not self.p(.03):
            t["labelSelector"] = self.selector()
        if self.p(.2):
            t["namespaces"] = R.sample(list(NAMESPACES), R.randint(1, 2))
        if self.p(.2):
            t["namespaceSelector"] = R.choice([{}, {"matchLabels": {"team": "a"}}, {"matchExpressions": [{"key": "env", "operator": "Exists"}]}])
        return t

    def node_term(self):
        R = self.R
        ex = [{"key": "disk", "operator": R.choice(["In", "NotIn"]), "values": R.sample(["ssd", "hdd", "nvme"], R.randint(1, 2))},
              {"key": "gen", "operator": R.choice(["Gt", "Lt"]), "values": [R.choice(["2", "3", "9"])]},
              {"key": R.choice(["rack", "gen", ZONE]), "operator": R.choice(["Exists", "DoesNotExist"])},
              {"key": ZONE, "operator": "In", "values": R.sample(["z1", "z2", "z3"], R.randint(1, 2))}]
        t = {}
        if self.p(.92):
            t["matchExpressions"] = R.sample(ex, R.randint(1, 2))
        if self.p(.1):
            t["matchFields"] = [{"key": "metadata.name", "operator": R.choice(["In", "NotIn", "In"]), "values": [f"node-{R.randrange(self.nn):03d}"]}]
        return t

    def affinity(self):
        R, a = self.R, {}
        strong = .35 if self.on("affinity") else .08
        if self.p(.3):
            na = {}
            if self.p(.5):
                na["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": [self.node_term() for _ in range(R.randint(1, 2))]}
            if self.p(.6):
                na["preferredDuringSchedulingIgnoredDuringExecution"] = [{"weight": R.randint(1, 100), "preference": self.node_term()} for _ in range(R.randint(1, 3))]
            if na:
                a["nodeAffinity"] = na
        for kind in ("podAffinity", "podAntiAffinity"):
            pa = {}
            if self.p(strong * .6):
                pa["requiredDuringSchedulingIgnoredDuringExecution"] = [self.pod_term() for _ in range(R.randint(1, 2))]
            if self.p(strong):
                pa["preferredDuringSchedulingIgnoredDuringExecution"] = [{"weight": R.randint(1, 100), "podAffinityTerm": self.pod_term()} for _ in range(R.randint(1, 2))]
            if pa:
                a[kind] = pa
        return a

    def spread(self, app):
        R, out = self.R, []
        for _ in range(R.randint(1, 2)):
            c = {"maxSkew": R.randint(1, 3), "topologyKey": R.choice([ZONE, ZONE, HOST, "rack"]), "whenUnsatisfiable": R.choice(["DoNotSchedule", "ScheduleAnyway"])}
            if any(o["topologyKey"] == c["topologyKey"] and o["whenUnsatisfiable"] == c["whenUnsatisfiable"] for o in out):
                continue
            c["labelSelector"] = {"matchLabels": {"app": app}} if self.p(.7) else self.selector()
            if c["whenUnsatisfiable"] == "DoNotSchedule" and self.p(.25):
                c["minDomains"] = R.randint(1, 5)
            if self.p(.25):
                c["nodeAffinityPolicy"] = R.choice(["Honor", "Ignore"])
            if self.p(.25):
                c["nodeTaintsPolicy"] = R.choice(["Honor", "Ignore"])
            if self.p(.2) and c["labelSelector"]:
                c["matchLabelKeys"] = ["pod-template-hash"]
            out.append(c)
        return out

    def tolerations(self):
        R = self.R
        return R.sample([{"operator": "Exists"}, {"key": "dedicated", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}, {"key": "dedicated", "operator": "Exists"},
                         {"key": "dedicated", "value": "infra"}, {"key": "flaky", "operator": "Exists", "effect": "PreferNoSchedule"},
                         {"key": "spot", "operator": "Equal", "value": "true"}, {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"},
                         {"key": "dedicated", "operator": "Equal", "value": "gpu", "effect": "NoExecute", "tolerationSeconds": 60}], R.randint(1, 2))

    def container(self, name):
        R = self.R
        c = {"name": name, "image": R.choice([f"registry.example.com/img{R.randint(0, 5)}:v1", "img3", "img3:latest", f"registry.example.com/img1@sha256:{1:064x}"]), "resources": {"requests": self.quantity()}}
        if self.on("ports") and self.p(.3) or self.p(.05):
            c["ports"] = [{"containerPort": 80, "hostPort": R.choice([80, 8080, 443]), "protocol": R.choice(["TCP", "TCP", "UDP"])} for _ in range(R.randint(1, 2))]
            for q in c["ports"]:
                if self.p(.5):
                    q["hostIP"] = R.choice(["0.0.0.0", "127.0.0.1", "10.0.0.1"])
        return c

    def pod(self, i, bound):
        R = self.R
        ns = R.choice(["default", "default", "prod", "dev"])
        labels = {"app": R.choice(APPS)}
        if self.p(.6):
            labels["tier"] = R.choice(TIERS)
        if self.p(.5):
            labels["pod-template-hash"] = R.choice(["aaa", "bbb"])
        spec = {"schedulerName": "default-scheduler", "priority": R.choice([0, 0, 0, 10, 100]), "restartPolicy": "Always", "terminationGracePeriodSeconds": 30,
                "containers": [self.container(f"c{k}") for k in range(R.choice([1, 1, 1, 2, 3]))]}
        heavy = self.on("resources")
        if self.p(.4 if heavy else .08):
            ics = []
            for k in range(R.randint(1, 3)):
                ic = self.container(f"i{k}")
                ic.pop("ports", None)
                if self.p(.4):
                    ic["restartPolicy"] = "Always"
                ics.append(ic)
            spec["initContainers"] = ics
        if self.p(.2 if heavy else .03):
            spec["overhead"] = {"cpu": R.choice(["10m", "250m"]), "memory": R.choice(["16Mi", "120Mi"])}
        if self.p(.2 if heavy else .02):
            spec["resources"] = {"requests": {k: v for k, v in (("cpu", R.choice(["500m", "3", "4"])), ("memory", R.choice(["512Mi", "3Gi"]))) if self.p(.8)}}
        if self.p(.25):
            spec["nodeSelector"] = R.choice([{"disk": "ssd"}, {"disk": "hdd"}, {ZONE: "z1"}, {"kubernetes.io/arch": "amd64"}, {"disk": "ssd", ZONE: "z2"}])
        if self.p(.4):
            spec["tolerations"] = self.tolerations()
        a = self.affinity()
        if a:
            spec["affinity"] = a
        if self.p(.6 if self.on("spread") else .1):
            s = self.spread(labels["app"])
            if s:
                spec["topologySpreadConstraints"] = s
        meta_extra, status = {}, {"phase": "Pending"}
        if bound:
            spec["nodeName"] = f"node-{R.randrange(self.nn):03d}"
            status = {"phase": "Running", "startTime": f"2026-01-01T{R.randint(0, 23):02d}:{R.randint(0, 59):02d}:00Z"}
            if self.p(.05):
                meta_extra = {"deletionTimestamp": "2026-01-02T00:00:00Z", "deletionGracePeriodSeconds": 30}
        if self.on("preempt"):
            spec["priority"] = R.choice([0, 10, 100]) if bound else R.choice([100, 1000, 2000])
            if not bound and self.p(.1):
                spec["preemptionPolicy"] = "Never"
        if not bound and self.on("preempt", "resources", "affinity", "spread") and self.p(.15):
            status["nominatedNodeName"] = f"node-{R.randrange(self.nn):03d}"
        if self.on("volumes") and self.p(.5):
            self.volumes(spec, ns, bound)
        if self.on("dra") and not bound and self.p(.7):
            self.dra_claims(spec, status, ns, i)
        pod = self.add("v1", "Pod", f"pod-{i:04d}", ns, labels, spec=spec, status=status)
        pod["metadata"].update(meta_extra)

    # --- volumes -----------------------------------------------------------
    def storage(self):
        R = self.R
        for name, mode in (("wait", "WaitForFirstConsumer"), ("wait-topo", "WaitForFirstConsumer"), ("now", "Immediate"), ("local", "WaitForFirstConsumer")):
            body = {"provisioner": "kubernetes.io/no-provisioner" if name == "local" else "csi.example.com", "volumeBindingMode": mode}
            if name == "wait-topo":
                body["allowedTopologies"] = [{"matchLabelExpressions": [{"key": ZONE, "values": ["z1", "z2"]}]}]
            self.add("storage.k8s.io/v1", "StorageClass", name, **body)
        self.add("storage.k8s.io/v1", "CSIDriver", "csi.example.com", spec={"storageCapacity": self.p(.5), "attachRequired": True})
        for z in ("z1", "z2", "z3"):
            if self.p(.8):
                self.add("storage.k8s.io/v1", "CSIStorageCapacity", f"cap-{z}", "default", storageClassName="wait", capacity=R.choice(["1Gi", "50Gi"]),
                         nodeTopology={"matchLabels": {ZONE: z}})
        for i in range(self.nn):
            if self.p(.7):
                self.add("storage.k8s.io/v1", "CSINode", f"node-{i:03d}", spec={"drivers": [{"name": "csi.example.com", "nodeID": f"n{i}", "topologyKeys": [ZONE],
                         "allocatable": {"count": R.choice([1, 2, 5, 20])}}]})
        for i in range(24):
            aff = R.choice([{"key": ZONE, "operator": "In", "values": [R.choice(["z1", "z2", "z3"])]}, {"key": HOST, "operator": "In", "values": [f"node-{R.randrange(self.nn):03d}"]}])
            sc = R.choice(["local", "wait", "now"])
            spec = {"capacity": {"storage": R.choice(["1Gi", "5Gi", "10Gi", "20Gi"])}, "accessModes": R.choice([["ReadWriteOnce"], ["ReadWriteOnce", "ReadOnlyMany"], ["ReadWriteMany"]]),
                    "persistentVolumeReclaimPolicy": "Retain", "storageClassName": sc, "volumeMode": "Filesystem"}
            if self.p(.75):
                spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [aff]}]}}
            if sc == "local":
                spec["local"] = {"path": f"/mnt/{i}"}
            else:
                spec["csi"] = {"driver": "csi.example.com", "volumeHandle": f"vol-{i}"}
            labels = {}
            if self.p(.4):
                labels = {ZONE: R.choice(["z1", "z2", "z1__z2"])}
            if self.p(.3):
                labels["speed"] = R.choice(["fast", "slow"])
            ns = R.choice(["default", "prod", "dev"])
            bind = self.p(.6)
            phase = "Available"
            pv = self.add("v1", "PersistentVolume", f"pv-{i:02d}", labels=labels, spec=spec, status={"phase": phase})
            cname = f"claim-{i:02d}"
            cspec = {"accessModes": ["ReadWriteOncePod"] if self.p(.1) else ["ReadWriteOnce"], "storageClassName": sc, "volumeMode": "Filesystem", "resources": {"requests": {"storage": R.choice(["1Gi", "4Gi", "8Gi"])}}}
            if bind:
                cspec["volumeName"] = f"pv-{i:02d}"
                pvc = self.add("v1", "PersistentVolumeClaim", cname, ns, annotations={"pv.kubernetes.io/bind-completed": "yes"}, spec=cspec, status={"phase": "Bound"})
                spec["claimRef"] = {"kind": "PersistentVolumeClaim", "apiVersion": "v1", "namespace": ns, "name": cname, "uid": pvc["metadata"]["uid"]}
                pv["status"]["phase"] = "Bound"
            else:
                cspec["storageClassName"] = R.choice(["wait", "wait-topo", "local", "now", "missing"])
                if self.p(.2):
                    cspec["selector"] = {"matchLabels": {"speed": "fast"}}
                self.add("v1", "PersistentVolumeClaim", cname, ns, spec=cspec, status={"phase": "Pending"})
            self.claims.append((ns, cname))

    def volumes(self, spec, ns, bound):
        R, vols = self.R, []
        mine = [c for n, c in self.claims if n == ns]
        for k in range(R.randint(1, 2)):
            r = R.random()
            if r < .75 and mine:
                vols.append({"name": f"v{k}", "persistentVolumeClaim": {"claimName": R.choice(mine) if not self.p(.04) else "nope"}})
            elif r < .82:
                vols.append({"name": f"v{k}", "gcePersistentDisk": {"pdName": R.choice(["d1", "d2"]), "readOnly": self.p(.4)}})
            elif r < .88:
                vols.append({"name": f"v{k}", "awsElasticBlockStore": {"volumeID": R.choice(["e1", "e2"])}})
            elif r < .93:
                vols.append({"name": f"v{k}", "iscsi": {"targetPortal": "10.0.0.1:3260", "iqn": R.choice(["iqn.a", "iqn.b"]), "lun": 0, "readOnly": self.p(.5)}})
            else:
                vols.append({"name": f"v{k}", "emptyDir": {}})
        spec["volumes"] = vols

    # --- dynamic resource allocation ---------------------------------------
    def dra(self):
        R = self.R
        self.add("resource.k8s.io/v1", "DeviceClass", "gpu.example.com", spec={"selectors": [{"cel": {"expression": 'device.driver == "gpu.example.com"'}}]})
        self.add("resource.k8s.io/v1", "DeviceClass", "any.example.com", spec={})
        self.add("resource.k8s.io/v1", "DeviceClass", "big.example.com", spec={"selectors": [{"cel": {"expression": 'device.driver == "gpu.example.com" && device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0'}}]})
        self.add("resource.k8s.io/v1", "DeviceClass", "ext.example.com", spec={"extendedResourceName": "example.com/accel", "selectors": [{"cel": {"expression": 'device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].model != "L4"'}}]})
        for i in range(self.nn):
            if self.p(.5):
                devs = []
                for k in range(R.randint(1, 4)):
                    d = {"name": f"gpu-{k}", "attributes": {"model": {"string": R.choice(["A100", "H100", "L4"])}, "index": {"int": k}, "ecc": {"bool": self.p(.5)}, "driverVersion": {"version": R.choice(["1.2.3", "2.0.0", "2.1.0-rc.1"])}, "numa": {"int": k % 2}},
                         "capacity": {"memory": {"value": R.choice(["24Gi", "40Gi", "80Gi"])}}}
                    if self.p(.1):
                        d["taints"] = [{"key": "sick", "value": "yes", "effect": R.choice(["NoSchedule", "NoExecute"]), "timeAdded": "2026-01-01T00:00:00Z"}]
                    devs.append(d)
                self.add("resource.k8s.io/v1", "ResourceSlice", f"slice-{i:03d}", spec={"driver": "gpu.example.com", "nodeName": f"node-{i:03d}", "pool": {"name": f"node-{i:03d}", "generation": 1, "resourceSliceCount": 1}, "devices": devs})
                if self.p(.4):  # somebody has one of them already
                    self.add("resource.k8s.io/v1", "ResourceClaim", f"used-{i:03d}", "default", spec={"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu.example.com", "allocationMode": "ExactCount", "count": 1}}]}},
                             status={"allocation": {"devices": {"results": [{"request": "r", "driver": "gpu.example.com", "pool": f"node-{i:03d}", "device": R.choice(devs)["name"]}]},
                                                    "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [f"node-{i:03d}"]}]}]}},
                                     "reservedFor": [{"resource": "pods", "name": "elsewhere", "uid": f"elsewhere-{i}"}]})
        self.add("resource.k8s.io/v1", "ResourceSlice", "net-slice", spec={"driver": "net.example.com", "nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["z1", "z2"]}]}]},
                 "pool": {"name": "net", "generation": 1, "resourceSliceCount": 1}, "devices": [{"name": f"nic-{k}", "attributes": {"speed": {"int": 10 * (k + 1)}}} for k in range(3)]})

    CEL = ['device.attributes["gpu.example.com"].model == "H100"', 'device.attributes["gpu.example.com"].index < 2', 'device.attributes["gpu.example.com"].ecc',
           'device.capacity["gpu.example.com"].memory.isGreaterThan(quantity("30Gi"))', 'device.attributes["gpu.example.com"].driverVersion.isGreaterThan(semver("1.9.0"))',
           'device.attributes["gpu.example.com"].model in ["A100", "H100"] && !device.attributes["gpu.example.com"].ecc', 'has(device.attributes["gpu.example.com"].nothere)',
           'device.attributes["gpu.example.com"].model.startsWith("A")', 'device.attributes["gpu.example.com"].nothere == "x"']

    def dra_claims(self, spec, status, ns, i):
        R = self.R
        if self.p(.2):  # devices asked for as an extended resource
            name = R.choice(["example.com/accel", "example.com/accel", "deviceclass.resource.kubernetes.io/gpu.example.com", "deviceclass.resource.kubernetes.io/big.example.com"])
            res = spec["containers"][0]["resources"]
            n = R.choice(["1", "1", "2"])
            res.setdefault("requests", {})[name] = n
            res.setdefault("limits", {})[name] = n
            return
        reqs = []
        for k in range(R.choice([1, 1, 2])):
            ex = {"deviceClassName": R.choice(["gpu.example.com", "gpu.example.com", "big.example.com", "any.example.com", "missing.example.com" if self.p(.1) else "gpu.example.com"])}
            if self.p(.6):
                ex["selectors"] = [{"cel": {"expression": R.choice(self.CEL)}}]
            if self.p(.15):
                ex["allocationMode"] = "All"
            else:
                ex["allocationMode"], ex["count"] = "ExactCount", R.choice([1, 1, 2, 3])
            if self.p(.2):
                ex["tolerations"] = [{"key": "sick", "operator": "Exists"}]
            if self.p(.2):
                reqs.append({"name": f"r{k}", "firstAvailable": [{"name": "a", **{x: y for x, y in ex.items()}}, {"name": "b", "deviceClassName": "gpu.example.com", "allocationMode": "ExactCount", "count": 1}]})
            else:
                reqs.append({"name": f"r{k}", "exactly": ex})
        dev = {"requests": reqs}
        if self.p(.3):
            dev["constraints"] = [{"requests": [], "matchAttribute": R.choice(["gpu.example.com/model", "gpu.example.com/numa"])}]
        self.add("resource.k8s.io/v1", "ResourceClaim", f"rc-{i}", ns, spec={"devices": dev}, status={})
        spec["resourceClaims"] = [{"name": "gpus", "resourceClaimName": f"rc-{i}"}]
        spec["containers"][0]["resources"]["claims"] = [{"name": "gpus"}]

    def build(self):
        R = self.R
        for n, l in NAMESPACES.items():
            self.add("v1", "Namespace", n, labels={"kubernetes.io/metadata.name": n, **l})
        for i in range(self.nn):
            self.node(i)
        for k, app in enumerate(APPS):
            if self.p(.5):
                self.add("v1", "Service", f"svc-{app}", R.choice(["default", "prod"]), spec={"selector": {"app": app}, "ports": [{"port": 80}]})
        if self.on("volumes"):
            self.storage()
        if self.on("dra"):
            self.dra()
        if self.on("preempt"):
            self.add("policy/v1", "PodDisruptionBudget", "pdb-web", "default", spec={"selector": {"matchLabels": {"app": "web"}}}, status={"disruptionsAllowed": R.choice([0, 1]), "currentHealthy": 3, "desiredHealthy": 2, "expectedPods": 3})
        for i in range(self.nb):
            self.pod(i, True)
        for i in range(self.np):
            self.pod(self.nb + i, False)
        if self.topic in casegen_topics.TOPICS:
            casegen_topics.TOPICS[self.topic](self)
        if self.topic in casegen_fields.TOPICS:
            casegen_fields.TOPICS[self.topic](self)
        if self.topic == "storage":
            casegen_storage.storage(self)
        if self.topic == "devices":
            casegen_devices.devices(self)
        if self.topic == "claims":
            casegen_claims.claims(self)
        if self.topic == "budgets":
            casegen_budgets.budgets(self)
        if self.topic == "taintrules":
            casegen_taintrules.taint_rules(self)
        if self.topic in casegen_groups.TOPICS:
            casegen_groups.build(self)
        return {"apiVersion": "v1", "kind": "List", "metadata": {}, "items": self.items}


def generate(topic, seed, nodes=None, bound=None, pending=None, copies=1):
    usual = casegen_groups.SIZES.get(topic, (25, 240 if topic in ("preempt", "victims", "budgets") else 80, 15))
    size = (given or as_usual for given, as_usual in zip((nodes, bound, pending), usual))
    return with_copies(Gen(topic, seed, *size).build(), copies)


def with_copies(cluster, copies):
    """The cluster with every pending pod `copies` times, one after the other: equal but for name and UID."""
    items = []
    for item in cluster["items"]:
        items.append(item)
        if item["kind"] != "Pod" or item["spec"].get("nodeName"):
            continue
        for n in range(2, copies + 1):
            twin = copy.deepcopy(item)
            for field in ("name", "uid"):
                twin["metadata"][field] += f"-{n}"
            items.append(twin)
    return {**cluster, "items": items}


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("topic", choices=TOPICS)
    ap.add_argument("seed")
    ap.add_argument("--nodes", type=int, help="25; fewer where groups are the topic")
    ap.add_argument("--bound", type=int, help="placed pods; 80, or 240 where preemption is the topic")
    ap.add_argument("--pending", type=int, help="15; in topics of groups those without a group")
    ap.add_argument("--copies", type=int, default=1, help="of every pending pod, one after the other")
    a = ap.parse_args()
    print(json.dumps(generate(a.topic, a.seed, a.nodes, a.bound, a.pending, a.copies), indent=None, separators=(",", ":")))
