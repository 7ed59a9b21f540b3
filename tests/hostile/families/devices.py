"""DynamicResources: claims, slices, classes, selectors."""
from cluster import Case, fill, nodes, obj, pod, raw_json

API = "resource.k8s.io/v1"


def device_class(selectors=None):
    return obj(API, "DeviceClass", "gpu", spec={"selectors": selectors or []})


def resource_claim(requests, name="c0", **spec):
    return obj(API, "ResourceClaim", name, "default", spec={"devices": {"requests": requests, **spec}})


def request(i, **more):
    return {"name": f"r{i}", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1, **more}}


def slice_of(node_name, devices, name="s0"):
    return obj(API, "ResourceSlice", name, spec={
        "driver": "gpu.example.com", "nodeName": node_name,
        "pool": {"name": node_name, "generation": 1, "resourceSliceCount": 1}, "devices": devices})


def using(name="p0", claim="c0"):
    return pod(name, resourceClaims=[{"name": "d", "resourceClaimName": claim}])


def cases(scale):
    all_nodes = nodes(scale.nodes)
    room = scale.object_bytes - 512  # for the rest of the object
    devices = [{"name": f"d{i}", "attributes": {"index": {"int": i}}} for i in range(128)]
    selector = {"cel": {"expression": " && ".join(fill(min(room, 10 * 1024), lambda i: f"device.attributes[\"x\"].a{i} == 1"))}}
    yield Case("a class that no device fits, of a long expression",
               all_nodes + [device_class([selector]), slice_of("n0", devices), resource_claim([request(0)]), using()], times=11)  # compiled once
    # An API server lets a claim have 32 requests and 32 selectors each.
    costly = {"cel": {"expression": "[1,2,3,4,5,6,7,8].all(a, [1,2,3,4,5,6,7,8].all(b, [1,2,3,4].all(c, "
                                    "a + b + c < 100))) && false"}}
    yield Case("a costly selector that no device passes",
               all_nodes + [device_class(), slice_of("n0", devices), resource_claim([request(0, selectors=[costly])]), using()],
               times=130)  # 300 steps for each of 128 devices
    yield Case("a pod of claims that nobody has",
               all_nodes + [pod("p0", resourceClaims=fill(room, lambda i: {"name": f"d{i}", "resourceClaimName": f"c{i}"}))])
    reserved = fill(room, lambda i: {"resource": "pods", "name": f"p{i}", "uid": f"u{i}"})
    allocation = {"devices": {"results": [{"request": "r0", "driver": "gpu.example.com", "pool": "n0", "device": "d0"}]}}
    yield Case("a claim reserved for many",
               all_nodes + [device_class(), slice_of("n0", devices),
                            {**resource_claim([request(0)]), "status": {"allocation": allocation, "reservedFor": reserved}}, using()])
    attributes = fill(min(room, 32 * 1024), lambda i: f"a{i}")
    yield Case("devices of many attributes",
               all_nodes + [device_class(), slice_of("n0", [
                   {"name": f"d{i}", "attributes": {a: {"int": 1} for a in attributes[:room // 128 // 24]}} for i in range(128)]),
                            resource_claim([request(0)]), using()])
    nested = "[" * 880 + "]" * 880  # the embedded API server lets objects nest 900 deep
    yield Case("parameters that nest deep",
               all_nodes + [device_class(), slice_of("n0", devices), resource_claim([request(0)], config=[
                   {"opaque": {"driver": "gpu.example.com", "parameters": {"a": raw_json(nested)}}}]), using()])
