"""The topic `storage`: volumes of every kind over a plain random cluster.

Disks that were part of Kubernetes once and the drivers that took them over, limits with and without
VolumeAttachments, zones by old and new labels, claims for one pod only, ephemeral volumes, claims and volumes in
every state that an API server may show.
"""

ZONE, REGION, HOST = "topology.kubernetes.io/zone", "topology.kubernetes.io/region", "kubernetes.io/hostname"
BETA_ZONE, BETA_REGION = "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"
CSI = "csi.example.com"
# in-tree plugin, its driver, the driver's name for a zone
MIGRATED = [("kubernetes.io/aws-ebs", "ebs.csi.aws.com", "topology.ebs.csi.aws.com/zone"), ("kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "topology.gke.io/zone"),
            ("kubernetes.io/cinder", "cinder.csi.openstack.org", "topology.cinder.csi.openstack.org/zone"), ("kubernetes.io/azure-disk", "disk.csi.azure.com", "topology.disk.csi.azure.com/zone"),
            ("kubernetes.io/portworx-volume", "pxd.portworx.com", ""), ("kubernetes.io/azure-file", "file.csi.azure.com", ""),
            ("kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com", "topology.csi.vmware.com/zone")]
DRIVERS = [CSI] + [driver for _, driver, _ in MIGRATED]
CLASSES = ["wait", "wait-topo", "wait-odd", "now", "local", "modeless", "ebs", "gce", "vsphere", "nobody"]


def in_tree_source(gen, inline):
    """(field, source): one of the old disks; few of each, so that they meet."""
    R = gen.R
    kind = R.choice(["ebs", "ebs", "gce", "gce", "cinder", "azure", "portworx", "file", "vsphere"])
    read_only = {"readOnly": True} if gen.p(.3) else {}
    if kind == "ebs":
        ids = ["vol-1", "vol-2", "vol-3", "aws://us-east1-a/vol-1", "aws:///vol-2"] + (["aws://z/odd", "aws://z/%zz", "aws://a b/vol-1", "aws://z:p/vol-1"] if gen.p(.25) else [])
        return "awsElasticBlockStore", {"volumeID": R.choice(ids), **read_only}
    if kind == "gce":
        return "gcePersistentDisk", {"pdName": R.choice(["d1", "d2", "d3"]), **read_only}
    if kind == "cinder":
        return "cinder", {"volumeID": R.choice(["c1", "c2"]), **read_only}
    if kind == "azure":
        kinds = [{"kind": k} for k in ("Managed", "managed")] + ([{"kind": k} for k in ("Shared", "Dedicated")] if gen.p(.2) else [])
        return "azureDisk", {"diskName": "x", "diskURI": R.choice(["/disks/a", "/disks/b"]), **R.choice(kinds), **read_only}
    if kind == "portworx":
        return "portworxVolume", {"volumeID": R.choice(["px1", "px2"]), **read_only}
    if kind == "file":
        return "azureFile", {"secretName": "s", "shareName": "share", **({} if inline else {"secretNamespace": "default"})}
    return "vsphereVolume", {"volumePath": "[ds] a.vmdk"}


# --- the cluster -------------------------------------------------------------------------------------
def label_nodes(gen):
    for node in [o for o in gen.items if o["kind"] == "Node"]:
        labels = node["metadata"]["labels"]
        zone, region = labels.get(ZONE), labels.get(REGION)
        for key in [k for _, _, k in MIGRATED if k]:
            if zone and gen.p(.6):
                labels[key] = zone
        old = gen.R.random()
        if zone and old < .35:
            labels[BETA_ZONE] = zone if gen.p(.9) else "z9"
        if region and old < .35:
            labels[BETA_REGION] = region
        if old < .15:  # a node that knows the old names only
            labels.pop(ZONE, None)
            labels.pop(REGION, None)
        if gen.p(.05):
            for key in (ZONE, REGION, BETA_ZONE, BETA_REGION):
                labels.pop(key, None)


def classes(gen):
    R = gen.R
    topologies = [{"matchLabelExpressions": [{"key": ZONE, "values": ["z1", "z2"]}]}]
    odd = R.choice([[{"matchLabelExpressions": [{"key": ZONE, "values": ["z1"]}, {"key": "disk", "values": ["ssd", "nvme"]}]}, {"matchLabelExpressions": [{"key": "disk", "values": ["hdd"]}]}],
                    [{}], [{}, *topologies], [{"matchLabelExpressions": [{"key": "nothere", "values": ["x"]}]}]])
    for name, provisioner, mode, allowed in (("wait", CSI, "WaitForFirstConsumer", None), ("wait-topo", CSI, "WaitForFirstConsumer", topologies), ("wait-odd", CSI, "WaitForFirstConsumer", odd),
                                             ("now", CSI, "Immediate", None), ("local", "kubernetes.io/no-provisioner", "WaitForFirstConsumer", None), ("modeless", CSI, None, None),
                                             ("ebs", "kubernetes.io/aws-ebs", "WaitForFirstConsumer", None), ("gce", "kubernetes.io/gce-pd", "WaitForFirstConsumer", None),
                                             ("vsphere", "kubernetes.io/vsphere-volume", "WaitForFirstConsumer", None), ("nobody", "nobody.example.com", "WaitForFirstConsumer", None)):
        body = {"provisioner": provisioner}
        if mode:
            body["volumeBindingMode"] = mode
        if allowed:
            body["allowedTopologies"] = allowed
        gen.add("storage.k8s.io/v1", "StorageClass", name, **body)
    wanted = R.choice(DRIVERS[:5])  # of several that are missing upstream names any
    for driver in DRIVERS:
        if gen.p(.6):
            spec = {"attachRequired": True, "storageCapacity": gen.p(.4)}
            if driver == wanted or gen.p(.2):
                spec["preventPodSchedulingIfMissing"] = driver == wanted
            gen.add("storage.k8s.io/v1", "CSIDriver", driver, spec=spec)
    for i in range(R.randint(0, 8)):
        body = {"storageClassName": R.choice(["wait", "wait-topo", "ebs", "nobody"])}
        if gen.p(.9):
            body["nodeTopology"] = R.choice([{"matchLabels": {ZONE: R.choice(["z1", "z2", "z3"])}}, {}, {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]},
                                             {"matchExpressions": [{"key": "disk", "operator": "Like", "values": ["ssd"]}]}])
        if gen.p(.9):
            body["capacity"] = R.choice(["1Gi", "5Gi", "50Gi", "4294967295", "0"])
        if gen.p(.3):
            body["maximumVolumeSize"] = R.choice(["1Gi", "20Gi", "4Gi"])
        gen.add("storage.k8s.io/v1", "CSIStorageCapacity", f"cap-{i}", R.choice(["default", "prod"]), **body)


def csi_nodes(gen):
    R = gen.R
    for i in range(gen.nn):
        if gen.p(.15):
            continue
        drivers = []
        for driver in DRIVERS:
            if gen.p(.6):
                entry = {"name": driver, "nodeID": f"n{i}", "topologyKeys": [ZONE]}
                if gen.p(.85):
                    entry["allocatable"] = {"count": R.choice([0, 1, 1, 2, 2, 3, 5])} if gen.p(.95) else {}
                drivers.append(entry)
        plugins = [plugin for plugin, _, _ in MIGRATED if gen.p(.6)]
        annotations = {"storage.alpha.kubernetes.io/migrated-plugins": ",".join(plugins)} if gen.p(.75) else None
        gen.add("storage.k8s.io/v1", "CSINode", f"node-{i:03d}", annotations=annotations, spec={"drivers": drivers})


# --- volumes and claims ------------------------------------------------------------------------------
def volume_affinity(gen):
    R = gen.R

    def expression():
        key = R.choice([ZONE, ZONE, BETA_ZONE, REGION, BETA_REGION, HOST, "disk", "gen"] + [k for _, _, k in MIGRATED[:3]])
        if key == HOST:
            return {"key": key, "operator": "In", "values": [f"node-{R.randrange(gen.nn):03d}" for _ in range(3)]}
        if key == "gen":
            return {"key": key, "operator": R.choice(["Gt", "Lt"]), "values": R.choice([["2"], ["3"], ["x"]] if gen.p(.2) else [["2"], ["3"]])}
        if key == "disk":
            return R.choice([{"key": key, "operator": "NotIn", "values": ["hdd"]}, {"key": key, "operator": "Exists"}, {"key": "rack", "operator": "DoesNotExist"}])
        if gen.p(.08):
            return {"key": key, "operator": "Exists"}
        names = ["r1", "r2"] if key in (REGION, BETA_REGION) else ["z1", "z2", "z3"]
        return {"key": key, "operator": "In", "values": R.sample(names, R.randint(1, 2))}

    terms = []
    for _ in range(R.choice([1, 1, 1, 2])):
        term = {"matchExpressions": [expression() for _ in range(R.choice([1, 1, 2]))]}
        if gen.p(.05):
            term = R.choice([{}, {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["nowhere"]}]}])
        terms.append(term)
    return {"required": {"nodeSelectorTerms": terms}}


def volume_labels(gen):
    R, labels = gen.R, {}
    zones = ["z1", "z2", "z3", "z1__z2", "z2__z3__z2"] + (["us-east1-a__us-east1-b", "us-east1-a__us-west1-a", "", "z1__", " z1__z2 ", "__"] if gen.p(.25) else [])
    for key, values, chance in ((ZONE, zones, .35), (BETA_ZONE, zones, .25), (REGION, ["r1", "r2", "r1__r2"], .15), (BETA_REGION, ["r1", "r2"], .1), ("speed", ["fast", "slow"], .3)):
        if gen.p(chance):
            labels[key] = R.choice(values)
    return labels


def volume(gen, i):
    """Any PersistentVolume. No two are of the same size: of equal ones upstream takes any."""
    R = gen.R
    sc = R.choice(["", "now", "local", "wait", "wait", "ebs"])
    spec = {"capacity": {"storage": f"{R.choice([900, 1100, 4200, 8400, 20000]) * 1024 + i}Ki"}, "accessModes": R.choice([["ReadWriteOnce"], ["ReadWriteOnce"], ["ReadWriteOnce", "ReadOnlyMany"],
            ["ReadWriteMany"], ["ReadWriteOncePod"]]), "persistentVolumeReclaimPolicy": "Retain", "storageClassName": sc, "volumeMode": "Block" if gen.p(.08) else "Filesystem"}
    if gen.p(.05):
        spec.pop("volumeMode")
    if gen.p(.5):
        spec["nodeAffinity"] = volume_affinity(gen)
    elif gen.p(.05):
        spec["nodeAffinity"] = {}
    if gen.p(.06):
        spec["volumeAttributesClassName"] = R.choice(["gold", "silver"])
    what = R.random()
    if what < .45:
        spec["csi"] = {"driver": R.choice([CSI, CSI, "ebs.csi.aws.com", "pd.csi.storage.gke.io"]), "volumeHandle": R.choice([f"vol-{i}", "vol-1"])}
    elif what < .55:
        spec["local"] = {"path": f"/mnt/{i}"}
    else:
        field, source = in_tree_source(gen, False)
        spec[field] = source
    pv = gen.add("v1", "PersistentVolume", f"pv-{i:02d}", labels=volume_labels(gen), spec=spec, status={"phase": "Available"})
    if gen.p(.05):
        pv["metadata"].setdefault("annotations", {})["volume.beta.kubernetes.io/storage-class"] = R.choice(["wait", "local", ""])
    if gen.p(.05):
        pv["status"]["phase"] = R.choice(["Released", "Failed", "Pending"])
    if gen.p(.04):
        pv["metadata"].update({"deletionTimestamp": "2026-01-02T00:00:00Z"})
    return pv


def spare(gen, i):
    R = gen.R
    where = R.choice([{"key": ZONE, "operator": "In", "values": R.sample(["z1", "z2", "z3"], R.randint(1, 2))}, {"key": "disk", "operator": "In", "values": [R.choice(["ssd", "hdd", "nvme"])]}])
    gen.add("v1", "PersistentVolume", f"pv-{i:02d}", labels={"speed": R.choice(["fast", "slow"])}, status={"phase": "Available"},
            spec={"capacity": {"storage": f"{R.choice([1100, 1500, 4200, 8400]) * 1024 + i}Ki"}, "accessModes": ["ReadWriteOnce", "ReadWriteMany"], "persistentVolumeReclaimPolicy": "Retain",
                  "storageClassName": R.choice(["wait", "wait", "local"]), "volumeMode": "Filesystem", "csi": {"driver": CSI, "volumeHandle": f"vol-{i}"},
                  "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [where]}]}}})


def claim(gen, name, ns, pv=None):
    """A PersistentVolumeClaim in some state, with that volume or none."""
    R = gen.R
    spec = {"accessModes": [R.choice(["ReadWriteOnce", "ReadWriteOnce", "ReadWriteOnce", "ReadWriteMany", "ReadWriteOncePod"])], "volumeMode": "Filesystem",
            "storageClassName": R.choice(["wait"] * 6 + CLASSES + ["gone", ""]), "resources": {"requests": {"storage": R.choice(["1Gi", "1000Mi", "4Gi", "8Gi"])}}}
    annotations, status = {}, {"phase": "Pending"}
    if gen.p(.03):
        spec.pop("storageClassName")
    if gen.p(.04):
        spec["resources"] = {}
    if gen.p(.04):
        annotations["volume.beta.kubernetes.io/storage-class"] = R.choice(["wait", "now", "", "gone"])
    if gen.p(.06):
        spec["volumeMode"] = "Block"
    if gen.p(.06):
        spec["volumeAttributesClassName"] = R.choice(["gold", "silver"])
    if gen.p(.12):
        spec["selector"] = R.choice([{"matchLabels": {"speed": "fast"}}, {"matchExpressions": [{"key": "speed", "operator": "Exists"}]}, {}, {"matchExpressions": [{"key": "speed", "operator": "NotIn", "values": ["slow"]}]}])
    if pv is not None:
        spec["volumeName"], status["phase"] = pv["metadata"]["name"], "Bound"
        if gen.p(.93):
            annotations["pv.kubernetes.io/bind-completed"] = "yes"
        if gen.p(.3):
            annotations["pv.kubernetes.io/bound-by-controller"] = "yes"
    elif gen.p(.06):
        spec["volumeName"] = "pv-gone"
        if gen.p(.6):
            annotations["pv.kubernetes.io/bind-completed"] = "yes"
    elif gen.p(.08):
        annotations["volume.kubernetes.io/selected-node"] = f"node-{R.randrange(gen.nn):03d}"
    made = gen.add("v1", "PersistentVolumeClaim", name, ns, annotations=annotations or None, spec=spec, status=status)
    if gen.p(.02):
        status["phase"] = "Lost"
    if gen.p(.02):
        made["metadata"]["deletionTimestamp"] = "2026-01-02T00:00:00Z"
    if pv is not None and gen.p(.97):
        pv["spec"]["claimRef"] = {"kind": "PersistentVolumeClaim", "apiVersion": "v1", "namespace": ns, "name": name, "uid": made["metadata"]["uid"]}
        pv["status"]["phase"] = "Bound"
    return made


def volumes_and_claims(gen):
    R, there = gen.R, {"default": [], "prod": [], "dev": []}
    volumes = [volume(gen, i) for i in range(36)]
    for i, pv in enumerate(volumes):
        ns, name = R.choice(["default", "default", "prod", "dev"]), f"claim-{i:02d}"
        how = R.random()
        if how < .6:
            claim(gen, name, ns, pv)
        else:
            made = claim(gen, name, ns)
            if how < .68 and "claimRef" not in pv["spec"]:  # meant for the claim before it is bound
                pv["spec"]["claimRef"] = {"kind": "PersistentVolumeClaim", "namespace": ns, "name": name, **({"uid": made["metadata"]["uid"]} if gen.p(.5) else {})}
            elif how < .72:
                pv["spec"]["claimRef"] = {"kind": "PersistentVolumeClaim", "namespace": ns, "name": "another", "uid": "somebody"}
        there[ns].append(name)
    for i in range(R.randint(0, 16)):  # to be had, here and there
        spare(gen, 50 + i)
    for i in range(R.randint(0, 20)):
        source = R.choice([{"persistentVolumeName": R.choice(volumes)["metadata"]["name"]}] * 8 + [{"persistentVolumeName": "pv-gone"}, {"inlineVolumeSpec": {"accessModes": ["ReadWriteOnce"]}}])
        gen.add("storage.k8s.io/v1", "VolumeAttachment", f"va-{i:02d}", spec={"attacher": R.choice([CSI, CSI, *DRIVERS, ""]), "nodeName": f"node-{R.randrange(gen.nn):03d}", "source": source},
                status={"attached": True})
    return there


# --- pods --------------------------------------------------------------------------------------------
def pod_volumes(gen, pod, claims):
    R, spec, vols = gen.R, pod["spec"], []
    ns, bound = pod["metadata"]["namespace"], "nodeName" in spec
    for k in range(R.choice([1, 1, 1, 2, 2, 3])):
        what, entry = R.random(), {"name": f"v{k}"}
        if what < .62:
            entry["persistentVolumeClaim"] = {"claimName": R.choice(claims[ns]) if claims[ns] and not gen.p(.03) else R.choice(["nope", "nope", ""])}
        elif what < .7:
            entry["ephemeral"] = {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}}
            if gen.p(.9):
                made = claim(gen, f"{pod['metadata']['name']}-v{k}", ns, volume(gen, 100 + gen.uid) if bound and gen.p(.6) else None)
                if gen.p(.97):
                    made["metadata"]["ownerReferences"] = [{"apiVersion": "v1", "kind": "Pod", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"], "controller": True}]
        elif what < .87:
            field, source = in_tree_source(gen, True)
            entry[field] = source
        elif what < .91:
            entry["iscsi"] = {"targetPortal": "10.0.0.1:3260", "iqn": R.choice(["iqn.a", "iqn.b"]), "lun": 0, "readOnly": gen.p(.5)}
        elif what < .95:
            entry["rbd"] = {"monitors": R.sample(["m1", "m2", "m3"], R.randint(1, 2)), "image": R.choice(["i1", "i2"]), "pool": R.choice(["rbd", "p2"]), "readOnly": gen.p(.4)}
        else:
            entry.update(R.choice([{"emptyDir": {}}, {"csi": {"driver": CSI}}, {"configMap": {"name": "c"}}, {"hostPath": {"path": "/x"}}]))
        vols.append(entry)
    spec["volumes"] = vols


def storage(gen):
    label_nodes(gen)
    classes(gen)
    csi_nodes(gen)
    claims = volumes_and_claims(gen)
    for pod in [o for o in gen.items if o["kind"] == "Pod"]:
        bound = "nodeName" in pod["spec"]
        if gen.p(.4 if bound else .85):
            pod_volumes(gen, pod, claims)
        if not bound:
            # What else a pod may want is the business of other topics.
            for key in ("nodeSelector", "affinity", "topologySpreadConstraints"):
                if gen.p(.7):
                    pod["spec"].pop(key, None)
            if gen.p(.5):
                pod["spec"]["priority"] = 1000
