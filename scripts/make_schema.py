#!/usr/bin/env python3
"""Writes src/api/schema_table.inc: names, numbers and types of the fields of API objects.

    scripts/make_schema.py MODULES > src/api/schema_table.inc

MODULES is the folder that holds the Go modules `api@vX`, `apimachinery@vX` and
`apiextensions-apiserver@vX` of one version of Kubernetes (below GOPATH: pkg/mod/k8s.io); with several versions there, --version picks one. Field
numbers and types come from the generated.proto files; the names in JSON, what is left out there
when it is empty, and how strategic merge patches treat a field from the tags of the Go structs; what
is required, defaults, and how server-side apply merges a field from the markers (`+listType=map`)
in their comments. Nothing else is taken over.
"""

import argparse
import collections
import json
import pathlib
import re
import sys

META = ".k8s.io.apimachinery.pkg.apis.meta.v1."
CRD = ".k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1."

# What an API server for scheduling serves: apiVersion, package, kinds. Lists come by themselves.
ROOTS = [
    ("v1", "api.core.v1", "Pod Node Namespace Service ReplicationController PersistentVolume "
     "PersistentVolumeClaim Event ConfigMap Secret ServiceAccount Endpoints PodTemplate "
     "LimitRange ResourceQuota Binding"),
    ("apps/v1", "api.apps.v1", "ReplicaSet StatefulSet Deployment DaemonSet ControllerRevision"),
    ("batch/v1", "api.batch.v1", "Job CronJob"),
    ("policy/v1", "api.policy.v1", "PodDisruptionBudget Eviction"),
    ("storage.k8s.io/v1", "api.storage.v1",
     "StorageClass CSINode CSIDriver CSIStorageCapacity VolumeAttachment"),
    ("resource.k8s.io/v1", "api.resource.v1",
     "ResourceClaim ResourceClaimTemplate ResourceSlice DeviceClass DeviceTaintRule"),
    ("scheduling.k8s.io/v1", "api.scheduling.v1", "PriorityClass"),
    ("scheduling.k8s.io/v1beta1", "api.scheduling.v1beta1", "PodGroup Workload"),
    ("coordination.k8s.io/v1", "api.coordination.v1", "Lease"),
    ("events.k8s.io/v1", "api.events.v1", "Event"),
    ("discovery.k8s.io/v1", "api.discovery.v1", "EndpointSlice"),
    ("autoscaling/v1", "api.autoscaling.v1", "Scale"),
    ("autoscaling/v2", "api.autoscaling.v2", "HorizontalPodAutoscaler"),
    ("node.k8s.io/v1", "api.node.v1", "RuntimeClass"),
    ("admissionregistration.k8s.io/v1", "api.admissionregistration.v1",
     "ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration "
     "MutatingWebhookConfiguration"),
    ("apiextensions.k8s.io/v1", CRD[1:-1].removeprefix("k8s.io."), "CustomResourceDefinition"),
    ("rbac.authorization.k8s.io/v1", "api.rbac.v1",
     "Role RoleBinding ClusterRole ClusterRoleBinding"),
    ("authentication.k8s.io/v1", "api.authentication.v1",
     "TokenReview TokenRequest SelfSubjectReview"),
    ("authorization.k8s.io/v1", "api.authorization.v1",
     "SubjectAccessReview SelfSubjectAccessReview LocalSubjectAccessReview "
     "SelfSubjectRulesReview"),
    ("v1", META[1:-1].removeprefix("k8s.io."),
     "Status DeleteOptions CreateOptions UpdateOptions PatchOptions WatchEvent"),
    ("meta.k8s.io/v1", META[1:-1].removeprefix("k8s.io."),
     "Status DeleteOptions CreateOptions UpdateOptions PatchOptions WatchEvent "
     "PartialObjectMetadata"),
]

# Custom resources that scheduling reads: JSON alone, so that the numbers are merely different. They
# have no API server's kind of their own, hence stand at the end and in no list of kinds.
# {message: [(name, type, flags)]}; a type of another message is its name.
CUSTOM = {
    "coscheduling.PodGroup": [("metadata", META + "ObjectMeta", ["kOmitEmpty"]),
                              ("spec", "coscheduling.PodGroupSpec", ["kOmitEmpty"]),
                              ("status", "coscheduling.PodGroupStatus", ["kOmitEmpty"])],
    "coscheduling.PodGroupSpec": [("minMember", "kInt32", ["kOmitEmpty"]),
                                  ("minResources", "kQuantity", ["kMap", "kOmitEmpty"]),
                                  ("scheduleTimeoutSeconds", "kInt32",
                                   ["kPointer", "kOmitEmpty"])],
    "coscheduling.PodGroupStatus": [("phase", "kString", ["kOmitEmpty"]),
                                    ("occupiedBy", "kString", ["kOmitEmpty"]),
                                    ("running", "kInt32", ["kOmitEmpty"]),
                                    ("succeeded", "kInt32", ["kOmitEmpty"]),
                                    ("failed", "kInt32", ["kOmitEmpty"])],
}

SCALARS = {"string": "kString", "bool": "kBool", "int32": "kInt32", "int64": "kInt64",
           "bytes": "kBytes", "double": "kDouble"}
# Messages that JSON shows as something other than an object.
SPECIAL = {
    ".k8s.io.apimachinery.pkg.api.resource.Quantity": "kQuantity",
    ".k8s.io.apimachinery.pkg.util.intstr.IntOrString": "kIntOrString",
    ".k8s.io.apimachinery.pkg.runtime.RawExtension": "kRaw",
    META + "Time": "kTime",
    META + "MicroTime": "kMicroTime",
    META + "Duration": "kDuration",
    META + "FieldsV1": "kRaw",
    CRD + "JSON": "kRaw",
}
# Messages that JSON shows as the value of the one field that they have.
UNIONS = {CRD + "JSONSchemaPropsOrArray", CRD + "JSONSchemaPropsOrBool",
          CRD + "JSONSchemaPropsOrStringArray"}
SPECIAL_NAMES = {name.rpartition(".")[2] for name in [*SPECIAL, *UNIONS]}
GO_TYPES = {"kString": "string", "kBool": "bool", "kInt32": "int32", "kInt64": "int64",
            "kBytes": "byte", "kDouble": "float64"}
# What a package is called where it is imported, when that is not its name.
ALIASES = {"metav1": "v1", "corev1": "v1"}


def find_module(modules, name, version):
    found = sorted(modules.glob(f"{name}@{version or '*'}"))
    if len(found) != 1:
        sys.exit(f"{modules}: {len(found)} folders match {name}@{version or '*'}; use --version")
    return found[0]


def strip_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)


def read_proto(path):
    """(package, {message: [(label, type, name, number)]})"""
    text = strip_comments(path.read_text())
    package = re.search(r"^package ([\w.]+);", text, re.M).group(1)
    messages = {}
    for match in re.finditer(r"^message (\w+) \{(.*?)^\}", text, re.M | re.S):
        fields = []
        for statement in match.group(2).split(";"):
            statement = statement.strip()
            if not statement or statement.startswith("reserved"):
                continue
            parsed = re.match(r"(?:(optional|repeated) )?(map<[^>]*>|[\w.]+) (\w+) = (\d+)",
                              statement)
            if not parsed:
                sys.exit(f"{path}: {match.group(1)}: cannot read {statement!r}")
            label, kind, name, number = parsed.groups()
            fields.append((label, kind, name, int(number)))
        messages["." + package + "." + match.group(1)] = fields
    return "." + package, messages


GoField = collections.namedtuple("GoField", "number json_name options go_type tags markers")


def read_structs(folder):
    """({struct: [GoField]} in the order of the Go source, structs marked as atomic)."""
    structs, atomic = {}, set()
    for path in sorted(folder.glob("*.go")):
        if path.name.endswith("_test.go") or path.name.startswith(("generated.", "zz_")):
            continue
        fields, name, markers = [], None, {}
        for line in path.read_text().splitlines():
            comment = re.match(r"\s*//(.*)", line)
            if comment:
                if marker := re.match(r"\s*\+(\w+)(?:=(.*?))?\s*$", comment.group(1)):
                    markers.setdefault(marker.group(1), []).append(marker.group(2))
                continue
            if begin := re.match(r"\s*(?:type )?(\w+) struct \{$", line):
                fields, name = [], begin.group(1)
                if markers.get("structType") == ["atomic"]:
                    atomic.add(name)
            elif re.match(r"\s*\}$", line):
                if name and fields:
                    structs[name] = fields
                name = None
            elif name and (tagged := re.match(r"\s*(.*?)\s*`(.*)`", line)):
                tags = dict(re.findall(r'(\w+):"([^"]*)"', tagged.group(2)))
                if "protobuf" in tags and "json" in tags:
                    json_name, *options = tags["json"].split(",")
                    number = int(tags["protobuf"].split(",")[1])
                    fields.append(GoField(number, json_name, options, tagged.group(1).split()[-1],
                                          tags, markers))
            markers = {}
    return structs, atomic


class Table:
    def __init__(self, messages, structs):
        self.messages = messages
        self.structs = structs
        self.mergings = {(): 0}
        self.order = []
        self.index = {}
        self.rows = {}

    def visit(self, name):
        """The number of a message in the table."""
        if name in self.index:
            return self.index[name]
        self.index[name] = len(self.order)
        self.order.append(name)
        package, _, short = name.rpartition(".")
        protos = {number: (label, kind) for label, kind, _, number in self.messages[name]}
        fields = self.structs.get(package, ({}, ()))[0].get(short)
        if name in UNIONS:  # their names in JSON are not seen
            fields = [GoField(number, field, [], "*", {}, {})
                      for _, _, field, number in self.messages[name]]
        if fields is None and not protos:
            fields = []
        if fields is None:
            sys.exit(f"{name}: no Go struct with tags")
        if {field.number for field in fields} != set(protos):
            sys.exit(f"{name}: Go struct and message have different fields")
        rows = []
        for field in fields:
            if field.json_name == "-":
                continue
            kind, message, flags = self.shape(package, protos[field.number], field)
            if not field.json_name:  # embedded: JSON has its fields among the struct's own
                flags.append("kInline")
            elif is_required(field):
                flags.append("kRequired")
            rows.append((field.number, field.json_name, kind, message, flags,
                         self.merging(package, protos[field.number], field),
                         default_of(name, field), named_type(package, kind, field)))
        self.rows[name] = rows
        return self.index[name]

    def add_custom(self):
        for name in CUSTOM:
            self.index[name] = len(self.order)
            self.order.append(name)
        for name, fields in CUSTOM.items():
            self.rows[name] = [
                (number, json_name, kind if kind.startswith("k") else "kMessage",
                 0 if kind.startswith("k") else self.index[kind], flags, 0, "", "")
                for number, (json_name, kind, flags) in enumerate(fields, start=1)]

    def merging(self, package, proto, field):
        """The number of the row that says how the field is merged; 0: nothing special."""
        strategies = [s for s in field.tags.get("patchStrategy", "").split(",") if s]
        patch = [{"merge": "kPatchMerge", "replace": "kPatchReplace",
                  "retainKeys": "kPatchRetainKeys"}[s] for s in strategies]
        mark = {name: values[-1] for name, values in field.markers.items()}
        kind = mark.get("listType")
        keys = field.markers.get("listMapKey", []) if kind == "map" else []
        if len(keys) > 4:
            sys.exit(f"{field.json_name}: more than four keys")
        label, message = proto
        full = message if message.startswith(".") else f"{package}.{message}"
        owner, _, struct = full.rpartition(".")
        atomic = struct in self.structs.get(owner, ({}, ()))[1]
        if own := mark.get("structType", mark.get("mapType")):
            atomic = own == "atomic"
        row = (field.tags.get("patchMergeKey", ""), tuple(patch),
               {"atomic": "kAtomic", "set": "kSet", "map": "kMap", None: "kUnset"}[kind],
               tuple(keys), atomic)
        if row == ("", (), "kUnset", (), False):
            return 0
        return self.mergings.setdefault(row, len(self.mergings))

    def shape(self, package, proto, field):
        label, kind = proto
        flags = []
        if label == "repeated":
            flags.append("kRepeated")
        mapped = re.match(r"map<string, ?([\w.]+)>", kind)
        if mapped:
            flags.append("kMap")
            kind = mapped.group(1)
        elif kind.startswith("map<"):
            sys.exit(f"{package}: a map with keys that are not strings")
        if field.go_type.startswith("*") or kind == "bytes":
            flags.append("kPointer")
        if "omitempty" in field.options:
            flags.append("kOmitEmpty")
        if "omitzero" in field.options:
            flags.append("kOmitZero")
        if kind in SCALARS:
            return SCALARS[kind], 0, flags
        full = kind if kind.startswith(".") else f"{package}.{kind}"
        if full in SPECIAL:
            return SPECIAL[full], 0, flags
        if full in UNIONS:
            return "kUnion", self.visit(full), flags
        fields = self.messages[full]
        if len(fields) == 1 and fields[0][:3] == ("repeated", "string", "items"):
            return "kStringList", 0, flags
        return "kMessage", self.visit(full), flags


def is_required(field):
    if {"optional", "required"} & set(field.markers):
        return "required" in field.markers
    return not {"omitempty", "omitzero"} & set(field.options)


def named_type(package, kind, field):
    """The Go type of a string, number or map (of a list: of its items) that has a name of its own."""
    text = field.go_type.lstrip("*").removeprefix("[]").lstrip("*")
    if kind == "kMessage" or text.startswith("map[") or text in GO_TYPES.values():
        return ""
    if kind not in GO_TYPES and "map" not in field.go_type and text.split(".")[-1] in SPECIAL_NAMES:
        return ""
    alias, _, name = text.rpartition(".")
    own = package.split(".")[-1]
    return f"{ALIASES.get(alias, alias) or own}.{name}"


def default_of(message, field):
    """The default as JSON text."""
    text = (field.markers.get("default") or [""])[-1]
    if not text or text.startswith("ref("):
        return ""
    try:
        return json.dumps(json.loads(text), separators=(",", ":"))
    except ValueError:
        sys.exit(f"{message}: {field.json_name}: cannot read the default {text}")


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", type=pathlib.Path)
    parser.add_argument("--version", help="such as v0.37.1")
    options = parser.parse_args()

    messages, structs, version = {}, {}, None
    for module in ("api", "apimachinery", "apiextensions-apiserver"):
        folder = find_module(options.modules, module, options.version)
        version = folder.name.partition("@")[2]
        for path in sorted(folder.rglob("generated.proto")):
            package, found = read_proto(path)
            messages.update(found)
            structs[package] = read_structs(path.parent)

    table = Table(messages, structs)
    roots = []
    for api_version, package, kinds in ROOTS:
        for kind in kinds.split():
            for root in (kind, kind + "List"):
                name = f".k8s.io.{package}.{root}"
                if name in messages:
                    roots.append((api_version, root, table.visit(name)))
                elif root == kind:
                    sys.exit(f"no message {name}")
    table.add_custom()
    write(table, roots, version)


def write(table, roots, version):
    print("// Made by scripts/make_schema.py; do not edit. Field numbers, names in JSON, and")
    print(f"// types of the API objects of {version}.")
    print("// clang-format off")
    print("inline constexpr Field kFields[] = {")
    spans = []
    count = 0
    for name in table.order:
        rows = table.rows[name]
        spans.append((count, len(rows)))
        count += len(rows)
        print(f"    // {name.removeprefix('.k8s.io.')}")
        by_number = sorted(range(len(rows)), key=lambda row: rows[row][0])
        place = {row: at for at, row in enumerate(by_number)}
        for at, row in enumerate(by_number):
            number, json_name, kind, message, flags, merging, default, go_type = rows[row]
            more = f", {merging}" if merging or default or go_type else ""
            more += f", {quoted(default)}" if default or go_type else ""
            more += f", {quoted(go_type)}" if go_type else ""
            print(f'    {{"{json_name}", {number}, Type::{kind}, {message}, {place[at]}, {row}, '
                  f'{" | ".join(flags) or 0}{more}}},')
    print("};\n\ninline constexpr Message kMessages[] = {")
    for name, (first, size) in zip(table.order, spans):
        print(f'    {{{first}, {size}, "{name.removeprefix(".k8s.io.")}"}},')
    print("};\n\ninline constexpr Root kRoots[] = {")
    for api_version, kind, index in sorted(roots):
        print(f'    {{"{api_version}", "{kind}", {index}}},')
    print("};\n\ninline constexpr Merging kMergings[] = {\n    {},")
    for patch_key, patch, kind, keys, atomic in list(table.mergings)[1:]:
        names = ", ".join(quoted(key) for key in keys)
        print(f'    {{{quoted(patch_key)}, {" | ".join(patch) or 0}, ListType::{kind}, '
              f'{{{names}}}, {str(atomic).lower()}}},')
    print("};\n// clang-format on")


if __name__ == "__main__":
    main()
