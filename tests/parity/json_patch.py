"""JSON Patch (RFC 6902) and JSON Pointer (RFC 6901) on plain Python values.

Only what upstream says of a patched cluster counts, so this shares no code with berth.
"""
import copy


class PatchError(ValueError):
    """The operation cannot be applied to this document."""


def apply(document, operations):
    """The document with all operations applied, in order; `document` itself stays as it is."""
    document = copy.deepcopy(document)
    for operation in operations:
        document = apply_one(document, operation)
    return document


def apply_one(document, operation):
    op, path = operation.get("op"), operation.get("path")
    if op in ("add", "replace", "test"):
        if "value" not in operation:
            raise PatchError(f"{op} {path}: no value")
        value = copy.deepcopy(operation["value"])
    if op == "add":
        return add(document, path, value)
    if op == "remove":
        return remove(document, path)
    if op == "replace":
        find(document, path)
        return value if path == "" else add(remove(document, path), path, value)
    if op == "move":
        source = operation.get("from")
        if path.startswith(f"{source}/"):
            raise PatchError(f"move {source}: {path} is inside of it")
        value = find(document, source)
        return add(remove(document, source), path, value)
    if op == "copy":
        return add(document, path, copy.deepcopy(find(document, operation.get("from"))))
    if op == "test":
        if not same(find(document, path), value):
            raise PatchError(f"test {path}: it is another value")
        return document
    raise PatchError(f"there is no operation {op!r}")


def tokens(pointer):
    """The names and indices of a pointer."""
    if not isinstance(pointer, str) or pointer and not pointer.startswith("/"):
        raise PatchError(f"{pointer!r} is no pointer")
    return [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]


def index_of(token, end):
    """A list's index that is at most `end`."""
    if not (token.isascii() and token.isdigit()) or token != str(int(token)) or int(token) > end:
        raise PatchError(f"{token!r} is no index of a list of {end + 1}")
    return int(token)


def step(value, token):
    if isinstance(value, dict) and token in value:
        return value[token]
    if isinstance(value, list):
        return value[index_of(token, len(value) - 1)]
    raise PatchError(f"there is no {token!r}")


def find(document, pointer):
    for token in tokens(pointer):
        document = step(document, token)
    return document


def parent_of(document, pointer):
    """What holds the value at a pointer, and the pointer's last token."""
    *above, last = tokens(pointer)
    for token in above:
        document = step(document, token)
    if not isinstance(document, (dict, list)):
        raise PatchError(f"{pointer}: nothing can be inside a scalar")
    return document, last


def add(document, pointer, value):
    if pointer == "":
        return value
    parent, last = parent_of(document, pointer)
    if isinstance(parent, dict):
        parent[last] = value
    else:
        parent.insert(len(parent) if last == "-" else index_of(last, len(parent)), value)
    return document


def remove(document, pointer):
    find(document, pointer)
    if pointer == "":
        return None
    parent, last = parent_of(document, pointer)
    del parent[last if isinstance(parent, dict) else index_of(last, len(parent) - 1)]
    return document


def same(a, b):
    """Equality in JSON: true is not 1, but 1 is 1.0."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b
