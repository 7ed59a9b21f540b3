"""Strings that all have one hash in libstdc++, whose hash of a string is a fixed function. Tables of strings hash
with a key of their own (src/base/keyed_hash.h), so that these cost what any strings of their length cost."""
import functools
import itertools

from cluster import Case, container, nodes, pod

FACTOR, MASK = 0xC6A4A7935BD1E995, (1 << 64) - 1
INVERSE = pow(FACTOR, -1, 1 << 64)
SEED = 0xC70F6907
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
ALLOWED = frozenset(LETTERS.encode())


def absorb(state, block):
    mixed = block * FACTOR & MASK
    mixed = (mixed ^ mixed >> 47) * FACTOR & MASK
    return (state ^ mixed) * FACTOR & MASK


def block_that_leads(state, after):
    """The eight bytes that take the hash from `state` to `after`."""
    mixed = (after * INVERSE & MASK ^ state) * INVERSE & MASK
    return ((mixed ^ mixed >> 47) * INVERSE & MASK).to_bytes(8, "little")


def two_forms(state, number):
    """Two texts of 16 letters that have the same effect on the hash, and the hash after them."""
    first = f"image{number:03}".encode()
    after = absorb(absorb(state, int.from_bytes(first, "little")), int.from_bytes(b"registry", "little"))
    for letters in itertools.product(LETTERS.encode(), repeat=8):
        other = bytes(letters)
        last = block_that_leads(absorb(state, int.from_bytes(other, "little")), after)
        if ALLOWED.issuperset(last):
            return (first + b"registry").decode(), (other + last).decode(), after
    raise AssertionError("no second form")


PAIRS = 12
MOST = 1 << PAIRS  # texts


@functools.cache
def forms():
    state, made = SEED ^ (PAIRS * 16 * FACTOR & MASK), []
    for number in range(PAIRS):
        a, b, state = two_forms(state, number)
        made.append((a, b))
    return made


def colliding(count):
    """`count` texts of one length and one hash."""
    return ["".join(texts) for texts in itertools.islice(itertools.product(*forms()), count)]


def containers(images):
    return [container(f"c{i}", image) for i, image in enumerate(images)]


def cases(scale):
    count = min(MOST, scale.object_bytes // 260)
    images = colliding(count)
    others = [f"image-{i:0{len(images[0]) - 6}}" for i in range(count)]
    yield Case("images whose names collide in a hash without a key",
               nodes(scale.nodes) + [pod("p0", containers=containers(images))],
               twin=nodes(scale.nodes) + [pod("p0", containers=containers(others))], times=1.5, memory_times=1.5)
