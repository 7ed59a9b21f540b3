#!/usr/bin/env python3
"""Checks that the rooms keep to scripts/rooms.toml.

 - no file includes a header of a room that its room may not see (tests may see those of [tests], too);
 - a room links every room whose headers it includes, and none that it may not see;
 - a room links no room, and is allowed to see no room, of which it includes nothing;
 - product code includes nothing from a testing/ folder;
 - no header of ours includes a header of a third party;
 - a public header (include/berth) includes nothing but public headers and the standard library;
 - every source file is named in its room's CMakeLists.txt;
 - the picture of the rooms in ARCHITECTURE.md has the arrows of rooms.toml, and no others.

Prints one line per fault and exits with 1 if there is any.

    check_rooms.py [ROOT]      the tree to check; by default the one this script stands in
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
PUBLIC = ROOT / "include" / "berth"
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
ROOM_CALL = re.compile(r"\bberth_room\(\s*(\w+)\s+([^)]*)\)")
KEYWORDS = {"SOURCES", "ROOMS", "LIBRARIES", "TESTS", "TEST_LIBRARIES", "BENCHMARKS"}

faults: list[str] = []


def fault(path: Path, line: int | None, text: str) -> None:
    where = path.relative_to(ROOT).as_posix()
    faults.append(f"{where}:{line}: {text}" if line else f"{where}: {text}")


def closed(table: dict[str, list[str]]) -> dict[str, set[str]]:
    """Each room with all it may see, directly or through others."""
    result: dict[str, set[str]] = {}

    def visit(room: str, path: tuple[str, ...]) -> set[str]:
        if room in path:
            sys.exit(f"rooms.toml: a circle: {' -> '.join(path[path.index(room):] + (room,))}")
        if room not in table:
            sys.exit(f"rooms.toml: {path[-1]} may see {room}, which is not a room")
        if room not in result:
            seen = {room}
            for other in table[room]:
                seen |= visit(other, path + (room,))
            result[room] = seen
        return result[room]

    for room in table:
        visit(room, ())
    return result


def is_test(path: Path) -> bool:
    return path.stem.endswith(("_test", "_bench")) or "testing" in path.parts


def includes(path: Path):
    text = path.read_text(encoding="utf-8")
    for match in INCLUDE.finditer(text):
        yield text.count("\n", 0, match.start(2)) + 1, match.group(1), match.group(2)


def room_calls(path: Path) -> dict[str, dict[str, list[str]]]:
    """The arguments of berth_room(...) in a CMakeLists.txt, by room and keyword."""
    text = re.sub(r"#.*", "", path.read_text(encoding="utf-8"))
    calls: dict[str, dict[str, list[str]]] = {}
    for match in ROOM_CALL.finditer(text):
        arguments: dict[str, list[str]] = {}
        keyword = ""
        for word in match.group(2).split():
            if word in KEYWORDS:
                keyword = word
            else:
                arguments.setdefault(keyword, []).append(word)
        calls[match.group(1)] = arguments
    return calls


def check_includes(path: Path, visible: set[str], rooms: set[str], owner: str) -> set[str]:
    """Returns the rooms whose headers the file includes."""
    used = set()
    for line, quote, name in includes(path):
        first = name.split("/")[0]
        if first == "berth" and owner in rooms:
            if name not in public:
                fault(path, line, f"{name} is not a public header that rooms.toml knows")
                continue
            used.add(public[name])
            if public[name] not in visible:
                fault(path, line, f"{owner} may not see {public[name]} ({name})")
            continue
        if quote == '"':
            if first == "berth":
                continue
            if path.parent == PUBLIC:
                fault(path, line, f'"{name}" in a public header: only berth/ and the standard library')
                continue
            if owner not in rooms and ((path.parent / name).exists() or (ROOT / name).exists()):
                continue  # a neighbour, outside src/
            if first not in rooms or "/" not in name:
                fault(path, line, f'"{name}" is not written as "room/file.h"')
                continue
            used.add(first)
            if first not in visible:
                fault(path, line, f"{owner} may not see {first} ({name})")
            if "/testing/" in name and not is_test(path) and owner in rooms:
                fault(path, line, f"{name} is for tests only")
        elif path.suffix == ".h" and not is_test(path):
            if "/" in name or name.endswith((".h", ".hpp")):
                if first != "berth" and name not in system_headers:
                    fault(path, line, f"<{name}> in a header: third-party headers stay in .cc files")
    return used


def check_links(room: str, folder: Path, used: set[str], used_by_tests: set[str]) -> None:
    path = folder / "CMakeLists.txt"
    if not path.exists():
        fault(folder, None, "has no CMakeLists.txt")
        return
    calls = room_calls(path)
    if room not in calls:
        fault(path, None, f"has no berth_room({room} ...)")
        return
    arguments = calls[room]
    links = arguments.get("ROOMS", [])
    linked[room] = set(links)
    for other in links:
        if other not in sees[room]:
            fault(path, None, f"{room} may not link {other}")
    reach = {room}
    for other in links:
        reach |= reached(other)
    for other in sorted(used - reach):
        fault(path, None, f"{room} includes headers of {other} and does not link it")
    for other in sorted(set(links) - used):
        fault(path, None, f"{room} links {other} and includes none of its headers")
    tests = reach.copy()
    for library in arguments.get("TEST_LIBRARIES", []):
        match = re.match(r"berth_(\w+?)(_testing)?$", library)
        if match and match.group(1) in sees:
            tests |= reached(match.group(1))
    for other in sorted(used_by_tests - tests):
        fault(path, None, f"tests of {room} include headers of {other} and do not link it")


def check_permissions(room: str, used: set[str]) -> None:
    """A permission that only widens what may be included through others counts as unused, too."""
    for other in table["rooms"][room]:
        if other not in used:
            fault(RULES, None, f"{room} may see {other} and includes none of its headers")


def check_picture() -> None:
    """Its lines: `room room ──► room room`, with a caption in front of some."""
    path = ROOT / "ARCHITECTURE.md"
    if not path.exists():
        return
    drawn: dict[str, set[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        left, arrow, right = line.partition(" ──► ")
        rooms = right.split()
        if not arrow or not rooms or not set(rooms) <= set(table["rooms"]):
            continue
        for room in left.split():
            if room in table["rooms"]:
                drawn.setdefault(room, set()).update(rooms)
    for room, seen in table["rooms"].items():
        if drawn.get(room, set()) != set(seen):
            fault(path, None, f"the picture of the rooms does not say that {room} sees {' '.join(seen) or 'none'}")


def reached(room: str) -> set[str]:
    """All rooms that come with linking `room`, by its CMakeLists.txt."""
    if room not in linked:
        path = ROOT / "src" / room / "CMakeLists.txt"
        calls = room_calls(path) if path.exists() else {}
        linked[room] = set(calls.get(room, {}).get("ROOMS", []))
    result = {room}
    for other in linked[room] - {room}:
        result |= reached(other)
    return result


def check_listed(folder: Path) -> None:
    texts = "\n".join(
        p.read_text(encoding="utf-8") for p in folder.rglob("CMakeLists.txt"))
    for path in sorted(folder.rglob("*.cc")):
        if not re.search(rf"(?<![\w]){re.escape(path.name)}\b", texts):
            fault(path, None, "is not named in a CMakeLists.txt")


RULES = ROOT / "scripts" / "rooms.toml"
table = tomllib.loads(RULES.read_text(encoding="utf-8"))
sees = closed(table["rooms"])
system_headers = set(table["headers"]["system"])
tests_see = {
    room: sees[room].union(*(sees[other] for other in table.get("tests", {}).get(room, [])))
    for room in sees
}
linked: dict[str, set[str]] = {}
public = {f"berth/{header}.h": room for room, headers in table.get("public", {}).items() for header in headers}

for path in sorted(PUBLIC.rglob("*")):
    name = f"berth/{path.name}"
    if name not in public:
        fault(path, None, "is not listed under [public] in rooms.toml")
    else:
        check_includes(path, sees[public[name]], set(sees), public[name])

for folder in sorted(p for p in (ROOT / "src").iterdir() if p.is_dir()):
    files = sorted(p for p in folder.rglob("*") if p.suffix in (".h", ".cc"))
    if not files:
        continue
    room = folder.name
    if room not in sees:
        fault(folder, None, "is a room that rooms.toml does not know")
        continue
    used: set[str] = set()
    used_by_tests: set[str] = set()
    for path in files:
        visible = tests_see[room] if is_test(path) else sees[room]
        found = check_includes(path, visible, set(sees), room)
        (used_by_tests if is_test(path) else used).update(found)
    check_links(room, folder, used, used_by_tests)
    check_permissions(room, used | used_by_tests)
    check_listed(folder)

for door, rooms in table["doors"].items():
    visible = set().union(*(sees[room] for room in rooms))
    for path in sorted((ROOT / door).rglob("*")):
        if path.suffix in (".h", ".cc"):
            check_includes(path, visible, set(sees), door)

check_picture()
for text in faults:
    print(text)
sys.exit(1 if faults else 0)
