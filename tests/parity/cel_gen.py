"""Random device selectors and devices, as `oracle -cel` and `cel_eval` read them.

Expressions are made by type, so that most of them compile; now and then something of another type is put
in, so that not all of them do. The same seed gives the same cases.
"""
import random

DRIVER = "gpu.example.com"
DOMAINS = [DRIVER, "other.example.com", "none.example.com"]
IDS = ["model", "count", "fast", "version", "label", "ports", "missing"]
WORDS = ["a100", "A100-SXM", "", "x", "gpu", "10", "tesla-t4", "über", "a.b.c", "1Gi", "1.2.3"]
VERSIONS = ["1.2.3", "1.10.0", "2.0.0-rc.1", "0.0.1", "1.2.3+build.5", "10.0.0"]
LOOSE = ["v1.2", "1", "01.2.3", "1.2.3-", "x", "1.2.3.4", "", "1.2"]
QUANTITIES = ["1", "40Gi", "500m", "0", "-1", "1e3", "1.5", "100k", "2Ti", "1Ki"]
REGEXES = ["a", "^a[0-9]+$", "", ".*", "[0-9]+", "(x|y)+", "\\\\d+", "(?i)GPU", "a{2,3}"]
BAD_REGEXES = ["[", "(", "a**", "\\\\", "(?P<n", "a{1001}"]
ADDRESSES = ["10.0.0.1", "::1", "fe80::1", "300.1.1.1", "1.2.3", "2001:db8::", "::ffff:1.2.3.4", "x"]
RANGES = ["10.0.0.0/8", "fe80::/10", "10.0.0.0/33", "10.0.0.1/32", "x/8", "2001:db8::/32"]
URLS = ["https://example.com:80/a%20b?x=1&y=2", "/path", "x", "http://[::1]:8080/", "mailto:a@b", ""]
DURATIONS = ["1s", "1h30m", "-5m", "0s", "1.5ms", "x"]
TIMES = ["2026-01-02T03:04:05Z", "1999-12-31T23:59:59.5+01:00", "x", "2026-13-01T00:00:00Z"]


def quoted(text):
    return '"' + text.replace("\n", "\\n") + '"'


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names = []  # of variables, with their types

    def pick(self, items):
        return self.random.choice(items)

    def chance(self, probability):
        return self.random.random() < probability

    # -- devices ---------------------------------------------------------------------------------

    def attribute(self, name):
        kind = self.pick(["string", "int", "bool", "version"])
        if name == "model" or name == "label":
            kind = "string" if self.chance(0.8) else kind
        if name == "count":
            kind = "int" if self.chance(0.8) else kind
        if name == "fast":
            kind = "bool" if self.chance(0.8) else kind
        if name == "version":
            kind = "version" if self.chance(0.8) else kind
        if name == "ports":
            kind = self.pick(["ints", "ints", "strings", "versions", kind])
        if kind == "ints":
            return {"ints": [self.pick([0, 1, 2, 10]) for _ in range(self.pick([1, 2, 3]))]}
        if kind in ("strings", "versions"):
            return {kind: [self.pick(WORDS if kind == "strings" else VERSIONS) for _ in range(self.pick([1, 2, 3]))]}
        if kind == "string":
            return {"string": self.pick(WORDS)}
        if kind == "int":
            return {"int": self.pick([0, 1, -1, 2, 10, 100, 2**40])}
        if kind == "bool":
            return {"bool": self.chance(0.5)}
        return {"version": self.pick(VERSIONS) if self.chance(0.97) else self.pick(LOOSE)}

    def device(self):
        attributes, capacity = {}, {}
        for name in IDS[:-1]:
            if self.chance(0.8):
                key = name if self.chance(0.6) else f"{self.pick(DOMAINS[:2])}/{name}"
                attributes[key] = self.attribute(name)
        if self.chance(0.01):
            attributes["odd"] = {}
        for name in ["memory", "cores"]:
            if self.chance(0.8):
                key = name if self.chance(0.7) else f"{self.pick(DOMAINS[:2])}/{name}"
                capacity[key] = {"value": self.pick(QUANTITIES)}
        device = {"driver": DRIVER if self.chance(0.9) else "other.example.com"}
        if self.chance(0.3):
            device["allowMultipleAllocations"] = self.chance(0.5)
        if attributes:
            device["attributes"] = attributes
        if capacity:
            device["capacity"] = capacity
        return device

    # -- expressions -----------------------------------------------------------------------------

    def expression(self):
        self.names = []
        text = self.make("bool", self.pick([1, 2, 2, 3, 3, 4]))
        if self.chance(0.04):
            text = self.damage(text)
        return text

    def damage(self, text):
        """One small thing wrong with the text."""
        at = self.random.randrange(len(text) + 1)
        how = self.pick(["drop", "add", "cut"])
        if how == "drop" and text:
            return text[: max(0, at - 1)] + text[at:]
        if how == "cut":
            return text[:at]
        return text[:at] + self.pick(list("()[].,'\"?:!&|+-*/%<>= ain0u{}\\")) + text[at:]

    def make(self, kind, depth):
        if self.chance(0.02):
            kind = self.pick(["bool", "int", "string", "any", "quantity", "semver", "list_int", "double", "dyn"])
        known = [n for n, k in self.names if k == kind]
        if known and self.chance(0.35):
            return self.pick(known)
        if depth <= 0:
            return getattr(self, "leaf_" + kind)()
        return getattr(self, "make_" + kind)(depth - 1)

    def attribute_path(self, ids=None):
        domain = self.pick(DOMAINS) if self.chance(0.25) else DRIVER
        name = self.pick(ids or IDS)
        base = f'device.attributes["{domain}"]'
        if self.chance(0.05):
            return f'{base}[{self.make("string", 1)}]'
        if self.chance(0.04):
            return f"{base}.`{name}`"
        if self.chance(0.03):
            return f"({base}.?{name}).{self.pick(['orValue(1)', 'value()', 'or(optional.of(1)).value()'])}"
        return f"{base}.{name}" if self.chance(0.7) else f'{base}["{name}"]'

    def leaf_bool(self):
        return self.pick(["true", "false", "device.allowMultipleAllocations", f'device.driver == "{DRIVER}"'])

    def leaf_int(self):
        return str(self.pick([0, 1, 2, 3, 10, -1, 100, 9223372036854775807]))

    def leaf_uint(self):
        return self.pick(["0u", "1u", "7u", "18446744073709551615u"])

    def leaf_double(self):
        return self.pick(["0.0", "1.5", "-2.25", "1e10", "100.0", "3.0"])

    def leaf_string(self):
        return self.pick(["device.driver"] + [quoted(w) for w in WORDS])

    def leaf_bytes(self):
        return self.pick(['b"a"', "b''", 'b"\\xff"', "b'abc'"])

    def leaf_any(self):
        return self.attribute_path()

    def leaf_dyn(self):
        return f'dyn({self.make(self.pick(["int", "string", "bool", "double", "list_int"]), 0)})'

    def leaf_quantity(self):
        return self.pick([f'quantity("{self.pick(QUANTITIES)}")',
                          f'device.capacity["{self.pick(DOMAINS[:2])}"].{self.pick(["memory", "cores"])}'])

    def leaf_semver(self):
        return f'semver("{self.pick(VERSIONS)}")'

    def leaf_list_int(self):
        return "[" + ", ".join(self.leaf_int() for _ in range(self.random.randrange(4))) + "]"

    def leaf_list_string(self):
        return "[" + ", ".join(self.leaf_string() for _ in range(self.random.randrange(4))) + "]"

    def leaf_map(self):
        return self.pick(["{}", '{"a": 1}', '{"a": 1, "b": 2, "x": 0}'])

    def leaf_duration(self):
        return f'duration("{self.pick(DURATIONS[:-1] if self.chance(0.95) else DURATIONS)}")'

    def leaf_timestamp(self):
        return f'timestamp("{self.pick(TIMES[:2] if self.chance(0.95) else TIMES)}")'

    def leaf_ip(self):
        return f'ip("{self.pick(ADDRESSES)}")'

    def leaf_cidr(self):
        return f'cidr("{self.pick(RANGES)}")'

    def leaf_url(self):
        return f'url("{self.pick(URLS)}")'

    def leaf_optional(self):
        return self.pick(["optional.none()", f'optional.of({self.leaf_int()})',
                          f'device.attributes[?"{self.pick(DOMAINS)}"].count', "[1, 2][?0]", "{'a': 1}[?'b']",
                          f'optional.ofNonZeroValue({self.leaf_int()})'])

    def with_name(self, kind, body_kind, depth):
        """A new name for a value of `kind`, and a body that may use it."""
        name = self.pick(["x", "y", "z", "e", "device"]) if self.chance(0.2) else self.pick(["x", "y", "z", "e"])
        self.names.append((name, kind))
        body = self.make(body_kind, depth)
        self.names.pop()
        return name, body

    def make_bool(self, d):
        m = self.make
        how = self.random.randrange(33)
        if how == 30:
            ports = self.attribute_path(["ports"])
            name, body = self.with_name("any", "bool", d)
            return self.pick([f'{ports}.exists({name}, {body})', f'{ports}.all({name}, {body})', f'({ports}.size() > {m("int", d)})', f'({ports}[{m("int", d)}] == {m("any", d)})',
                              f'{ports}.includes({m("any", d)})', f'({m("any", d)} in {ports})', f'{ports}.isSorted()', f'({ports}.max() == {m("int", d)})'])
        if how == 31:
            return self.pick([f'{m("dyn", d)}.includes({m("dyn", d)})', f'{m("list_string", d)}.includes({m("any", d)})', f'{m("string", d)}.includes({m("string", d)})',
                              f'matches({m("string", d)}, {m("string", d)})', f'({m("string", d)}.indexOf("", {m("int", d)}) >= 0)', f'({m("string", d)}.lastIndexOf("", {m("int", d)}) >= 0)',
                              f'(.device.driver == {m("string", d)})', f'({m("timestamp", d)}.getHours("{self.pick(["+01:00", "-02:75", "03:-1"])}") > 2)',
                              f'({m("any", d)}.or(optional.of(true)).orValue(false))', f'({m("dyn", d)}.orValue(1) == {m("int", d)})'])
        if how == 32:
            return f'(optional.of(device.attributes){self.pick(["", "[" + quoted(self.pick(DOMAINS)) + "]", "[?" + quoted(self.pick(DOMAINS)) + "]"])}.?{self.pick(IDS)}.hasValue())'
        if how < 4:
            return f'({m("bool", d)} && {m("bool", d)})'
        if how < 8:
            return f'({m("bool", d)} || {m("bool", d)})'
        if how == 8:
            return f'!{m("bool", d)}'
        if how == 9:
            return f'({m("bool", d)} ? {m("bool", d)} : {m("bool", d)})'
        if how < 13:
            kind = self.pick(["int", "string", "double", "uint"])
            return f'({m("any", d)} {self.pick(["==", "!=", "<", ">=", "<=", ">"])} {m(kind, d)})'
        if how < 16:
            kind = self.pick(["int", "string", "double", "uint", "bytes", "duration", "timestamp", "bool"])
            return f'({m(kind, d)} {self.pick(["==", "!=", "<", ">=", "<=", ">"])} {m(kind, d)})'
        if how == 16:
            kind = self.pick(["quantity", "semver", "list_int", "list_string", "map", "ip", "cidr", "url", "optional"])
            return f'({m(kind, d)} {self.pick(["==", "!="])} {m(kind, d)})'
        if how == 17:
            return f'({m(self.pick(["quantity", "semver"]), d)}.{self.pick(["isGreaterThan", "isLessThan"])}({m(self.pick(["quantity", "semver"]), d)}))'
        if how == 18:
            return f'{self.attribute_path(["version"])}.{self.pick(["isGreaterThan", "isLessThan"])}({m("semver", d)})'
        if how == 19:
            return f'{m("string", d)}.{self.pick(["startsWith", "endsWith", "contains"])}({m("string", d)})'
        if how == 20:
            regex = self.pick(REGEXES if self.chance(0.9) else BAD_REGEXES)
            return f'{self.pick([m("string", d), self.attribute_path(["model", "label"])])}.matches("{regex}")'
        if how == 21:
            return f'({self.pick([m("int", d), m("any", d)])} in {m("list_int", d)})'
        if how == 22:
            return f'({self.pick([m("string", d), m("any", d)])} in {m("list_string", d)})'
        if how == 23:
            return self.pick([f'("{self.pick(IDS)}" in device.attributes["{self.pick(DOMAINS)}"])',
                              f'("{self.pick(DOMAINS)}" in device.attributes)',
                              f'("{self.pick(DOMAINS)}" in device.capacity)',
                              f'has(device.attributes["{self.pick(DOMAINS)}"].{self.pick(IDS)})',
                              "has(device.attributes.nodomain)", "has(device.driver)",
                              f'has(device.capacity["{self.pick(DOMAINS)}"].memory)'])
        if how == 24:
            kind, of = self.pick([("list_int", "int"), ("list_string", "string")])
            name, body = self.with_name(of, "bool", d)
            macro = self.pick(["all", "exists", "exists_one", "existsOne"])
            return f'{m(kind, d)}.{macro}({name}, {body})'
        if how == 25:
            kind = self.pick(["int", "string", "any", "list_int", "map"])
            name, body = self.with_name(kind, "bool", d)
            return f'cel.bind({name}, {m(kind, d)}, {body})'
        if how == 26:
            return self.pick([f'isQuantity({m("string", d)})', f'isSemver({m("string", d)})',
                              f'isSemver({m("string", d)}, {m("bool", 0)})', f'isURL({m("string", d)})',
                              f'isIP({m("string", d)})', f'isCIDR({m("string", d)})',
                              f'{m("list_int", d)}.isSorted()', f'{m("quantity", d)}.isInteger()',
                              f'{m("optional", d)}.hasValue()'])
        if how == 27:
            kind = self.pick(["list_int", "list_string"])
            return f'sets.{self.pick(["contains", "equivalent", "intersects"])}({m(kind, d)}, {m(kind, d)})'
        if how == 28:
            return self.pick([f'{m("ip", d)}.{self.pick(["isLoopback", "isGlobalUnicast", "isUnspecified", "isLinkLocalUnicast"])}()',
                              f'{m("cidr", d)}.containsIP({self.pick([m("ip", d), m("string", d)])})',
                              f'{m("cidr", d)}.containsCIDR({self.pick([m("cidr", d), m("string", d)])})',
                              f'{m("any", d)}.includes({m("string", d)})', f'{m("list_int", d)}.includes({m("int", d)})',
                              f'(type({m(self.pick(["int", "string", "any", "dyn", "list_int"]), d)}) == {self.pick(["int", "string", "bool", "list", "map", "double", "null_type"])})',
                              f'({m("dyn", d)} == {m(self.pick(["int", "string", "dyn"]), d)})',
                              f'({m("dyn", d)} > {m(self.pick(["int", "string", "dyn"]), d)})',
                              f'({m("any", d)} == null)', f'({m("any", d)} == {m("semver", d)})',
                              f'({m("semver", d)} == {m("any", d)})'])
        return m("any", d)

    def make_int(self, d):
        m = self.make
        how = self.random.randrange(16)
        if how < 5:
            return f'({m("int", d)} {self.pick(["+", "-", "*", "/", "%"])} {m("int", d)})'
        if how == 5:
            return f'-({m("int", d)})'
        if how == 6:
            return f'{m(self.pick(["string", "list_int", "list_string", "map", "bytes"]), d)}.size()'
        if how == 7:
            return f'size({m(self.pick(["string", "list_int", "list_string", "map"]), d)})'
        if how == 8:
            return f'({m("bool", d)} ? {m("int", d)} : {m("int", d)})'
        if how == 9:
            return self.pick([f'int({m(self.pick(["string", "double", "uint", "duration", "timestamp"]), d)})',
                              f'{m("optional", d)}.orValue({m("int", d)})'])
        if how == 10:
            return f'{m(self.pick(["quantity", "semver"]), d)}.compareTo({m(self.pick(["quantity", "semver"]), d)})'
        if how == 11:
            return f'{m("string", d)}.{self.pick(["indexOf", "lastIndexOf"])}({m("string", d)})'
        if how == 12:
            return f'{m("list_int", d)}[{m("int", d)}]'
        if how == 13:
            return f'{m("list_int", d)}.{self.pick(["sum", "min", "max"])}()'
        if how == 14:
            return self.pick([f'{m("semver", d)}.{self.pick(["major", "minor", "patch"])}()', f'sign({m("quantity", d)})',
                              f'{m("list_int", d)}.indexOf({m("int", d)})', f'{m("map", d)}["a"]', f'{m("map", d)}.b',
                              f'{m("duration", d)}.getSeconds()', f'{m("timestamp", d)}.{self.pick(["getHours", "getFullYear", "getDayOfWeek", "getDate", "getDayOfYear"])}({self.pick(["", quoted("+02:30")])})',
                              f'{m("ip", d)}.family()', f'{m("cidr", d)}.prefixLength()', f'{m("quantity", d)}.asInteger()'])
        name, body = self.with_name("int", "int", d)
        return f'cel.bind({name}, {m("int", d)}, {body})'

    def make_uint(self, d):
        return self.pick([f'({self.make("uint", d)} {self.pick(["+", "-", "*", "/", "%"])} {self.make("uint", d)})',
                          f'uint({self.make(self.pick(["int", "string", "double"]), d)})'])

    def make_double(self, d):
        return self.pick([f'({self.make("double", d)} {self.pick(["+", "-", "*", "/"])} {self.make("double", d)})',
                          f'double({self.make(self.pick(["int", "string", "uint"]), d)})',
                          f'{self.make("quantity", d)}.asApproximateFloat()'])

    def make_string(self, d):
        m = self.make
        how = self.random.randrange(14)
        if how < 2:
            return f'({m("string", d)} + {m("string", d)})'
        if how == 2:
            return f'{m("string", d)}.{self.pick(["lowerAscii", "upperAscii", "trim"])}()'
        if how == 3:
            return f'{m("string", d)}.replace({m("string", d)}, {m("string", d)})'
        if how == 4:
            return f'{m("string", d)}.substring({m("int", d)})'
        if how == 5:
            return f'{m("string", d)}.split({m("string", d)})[{m("int", 0)}]'
        if how == 6:
            return f'string({m(self.pick(["int", "bool", "double", "uint", "bytes", "duration", "timestamp", "string"]), d)})'
        if how == 7:
            return f'{m("list_string", d)}.join({self.pick(["", m("string", d)])})'
        if how == 8:
            return f'{m("string", d)}.charAt({m("int", d)})'
        if how == 9:
            return f'{m("string", d)}.find("{self.pick(REGEXES)}")'
        if how == 10:
            kind = self.pick(["int", "string", "bool", "list_int", "list_string", "map", "double"])
            verb = self.pick(["%s", "%s", "%d", "%x", "%.2f", "%b", "%o", "%s %%"])
            return f'"<{verb}>".format([{m(kind, d)}])'
        if how == 11:
            return f'({m("bool", d)} ? {m("string", d)} : {m("string", d)})'
        if how == 12:
            return self.pick([f'strings.quote({m("string", d)})', f'{m("url", d)}.{self.pick(["getHost", "getPort", "getScheme", "getEscapedPath", "getHostname"])}()',
                              f'string({m("ip", d)})', f'string({m("cidr", d)}.masked())', f'{m("string", d)}.substring({m("int", 0)}, {m("int", 0)})'])
        return self.attribute_path(["model"]) + f'.{self.pick(["lowerAscii", "upperAscii"])}()'

    def make_bytes(self, d):
        return self.pick([f'({self.make("bytes", d)} + {self.make("bytes", d)})', f'bytes({self.make("string", d)})'])

    def make_any(self, d):
        if self.chance(0.15):
            return f'({self.make("bool", d)} ? {self.make("any", d)} : {self.make("any", d)})'
        return self.attribute_path()

    def make_dyn(self, d):
        return f'dyn({self.make(self.pick(["int", "string", "bool", "double", "list_int", "map", "any", "semver", "uint"]), d)})'

    def make_quantity(self, d):
        return self.pick([f'{self.make("quantity", d)}.{self.pick(["add", "sub"])}({self.make(self.pick(["quantity", "int"]), d)})',
                          f'quantity({self.make("string", d)})', self.leaf_quantity(), self.leaf_quantity()])

    def make_semver(self, d):
        return self.pick([f'semver("{self.pick(LOOSE)}", true)', f'semver({self.make("string", d)})', self.leaf_semver()])

    def make_list_int(self, d):
        m = self.make
        how = self.random.randrange(12)
        if how < 3:
            return "[" + ", ".join(m("int", d) for _ in range(self.random.randrange(4))) + "]"
        if how == 3:
            return f'({m("list_int", d)} + {m("list_int", d)})'
        if how == 4:
            name, body = self.with_name("int", "int", d)
            return f'{m("list_int", d)}.map({name}, {body})'
        if how == 5:
            name, body = self.with_name("int", "bool", d)
            return f'{m("list_int", d)}.filter({name}, {body})'
        if how == 6:
            return f'{m("list_int", d)}.{self.pick(["sort", "reverse", "distinct"])}()'
        if how == 7:
            return f"lists.range({self.random.randrange(-1, 8)})"
        if how == 8:
            return f'{m("list_int", d)}.slice({m("int", 0)}, {m("int", 0)})'
        if how == 9:
            name, body = self.with_name("int", "int", d)
            return f'{m("list_int", d)}.sortBy({name}, {body})'
        if how == 10:
            return f'[{m("list_int", d)}, {m("list_int", d)}].flatten()'
        name, body = self.with_name("int", "int", d)
        return f'{m("list_int", d)}.transformList(i, {name}, {body})'

    def make_list_string(self, d):
        m = self.make
        how = self.random.randrange(6)
        if how < 2:
            return "[" + ", ".join(m("string", d) for _ in range(self.random.randrange(4))) + "]"
        if how == 2:
            return f'{m("string", d)}.split({m("string", d)}{self.pick(["", ", 2", ", 0", ", -1"])})'
        if how == 3:
            return f'{m("string", d)}.findAll("{self.pick(REGEXES)}"{self.pick(["", ", 1"])})'
        if how == 4:
            name, body = self.with_name("string", "string", d)
            return f'{m("list_string", d)}.map({name}, {body})'
        return f'({m("list_string", d)} + {m("list_string", d)})'

    def make_map(self, d):
        m = self.make
        if self.chance(0.3):
            name, body = self.with_name("int", "int", d)
            return f'{m("map", d)}.transformMap(k, {name}, {body})'
        return f'{{"a": {m("int", d)}, {self.pick(["", "?"])}"c": {self.pick(["1", "optional.of(2)", "optional.none()"])}}}'

    def make_duration(self, d):
        return self.pick([f'({self.make("duration", d)} {self.pick(["+", "-"])} {self.make("duration", d)})',
                          f'({self.make("timestamp", d)} - {self.make("timestamp", d)})', self.leaf_duration()])

    def make_timestamp(self, d):
        return self.pick([f'({self.make("timestamp", d)} {self.pick(["+", "-"])} {self.make("duration", d)})',
                          f'timestamp({self.make("int", d)})', self.leaf_timestamp()])

    def make_ip(self, d):
        return self.pick([f'ip({self.make("string", d)})', f'{self.make("cidr", d)}.ip()', self.leaf_ip()])

    def make_cidr(self, d):
        return self.pick([f'{self.make("cidr", d)}.masked()', self.leaf_cidr()])

    def make_url(self, d):
        return self.leaf_url()

    def make_optional(self, d):
        name, body = self.with_name("int", "int", d)
        return self.pick([f'optional.of({self.make("int", d)})', f'{self.make("optional", d)}.or({self.make("optional", d)})',
                          f'{self.make("optional", d)}.optMap({name}, {body})', f'{self.make("list_int", d)}[?{self.make("int", d)}]',
                          f'{self.make("list_int", d)}.{self.pick(["first", "last"])}()', f'{self.make("map", d)}.?a'])


def cases(seed, count):
    maker = Maker(seed)
    return [{"expression": maker.expression(), "device": maker.device()} for _ in range(count)]
