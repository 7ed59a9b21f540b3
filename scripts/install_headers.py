#!/usr/bin/env python3
"""Installs the public headers: install_headers.py DESTINATION

Copies include/berth/*.h and every room header that these reach into DESTINATION/berth, and writes
`#include "room/x.h"` as `#include "berth/room/x.h"` on the way. What was left there by an earlier
install and is no longer reached is removed.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^(\s*#\s*include\s*")([^"]+)(")', re.MULTILINE)


def main(destination: Path) -> None:
    public = sorted((ROOT / "include").rglob("*.h"))
    source = {p.relative_to(ROOT / "include").as_posix(): p for p in public}
    waiting = list(source)
    texts: dict[str, str] = {}

    def rewritten(match: re.Match[str]) -> str:
        name = match.group(2)
        if not name.startswith("berth/"):
            room_header = ROOT / "src" / name
            if not room_header.is_file():
                sys.exit(f'install_headers: "{name}" is neither a public header nor one of a room')
            name = f"berth/{name}"
            source[name] = room_header
        if name not in source:
            sys.exit(f'install_headers: "{name}" is not in include/')
        waiting.append(name)
        return match.group(1) + name + match.group(3)

    while waiting:
        name = waiting.pop()
        if name not in texts:
            texts[name] = ""  # includes may form a circle
            texts[name] = INCLUDE.sub(rewritten, source[name].read_text(encoding="utf-8"))

    for old in (destination / "berth").rglob("*.h"):
        if old.relative_to(destination).as_posix() not in texts:
            old.unlink()
    for name, text in sorted(texts.items()):
        path = destination / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


if len(sys.argv) != 2:
    sys.exit(__doc__)
main(Path(sys.argv[1]))
