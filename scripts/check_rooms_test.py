#!/usr/bin/env python3
"""Tests of check_rooms.py: small trees, each with one fault, and the line that names it."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent / "check_rooms.py"

# Three rooms, one on top of the other, without a fault.
TREE = {
    "scripts/rooms.toml": '''
[rooms]
ground = []
middle = ["ground"]
roof = ["middle"]
[doors]
"tests" = ["roof"]
[headers]
system = []
''',
    "src/ground/CMakeLists.txt": "berth_room(ground SOURCES ground.cc)",
    "src/ground/ground.h": "",
    "src/ground/ground.cc": '#include "ground/ground.h"',
    "src/middle/CMakeLists.txt": "berth_room(middle ROOMS ground SOURCES middle.cc TESTS middle_test.cc)",
    "src/middle/middle.h": '#include "ground/ground.h"',
    "src/middle/middle.cc": '#include "middle/middle.h"',
    "src/middle/middle_test.cc": '#include "middle/middle.h"',
    "src/roof/CMakeLists.txt": "berth_room(roof ROOMS middle SOURCES roof.cc)",
    "src/roof/roof.cc": '#include "middle/middle.h"\n#include "ground/ground.h"',
    "tests/whole_test.cc": '#include "middle/middle.h"',
}


def faults(**changes: str) -> list[str]:
    """What the check prints about TREE with these files changed."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (TREE | changes).items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        run = subprocess.run([sys.executable, "-B", SCRIPT, folder], capture_output=True, text=True)
        lines = run.stdout.splitlines()
        assert run.returncode == (1 if lines else 0), run.stderr
        return lines


class CheckRooms(unittest.TestCase):
    def test_accepts_a_tree_that_keeps_the_rules(self):
        self.assertEqual(faults(), [])

    def test_names_an_include_that_is_not_allowed(self):
        self.assertEqual(
            faults(**{"src/ground/ground.cc": '#include "roof/roof.h"'}),
            ["src/ground/ground.cc:1: ground may not see roof (roof/roof.h)",
             "src/ground/CMakeLists.txt: ground includes headers of roof and does not link it"])

    def test_names_a_missing_link(self):
        self.assertEqual(
            faults(**{"src/middle/CMakeLists.txt":
                      "berth_room(middle SOURCES middle.cc TESTS middle_test.cc)"}),
            ["src/middle/CMakeLists.txt: middle includes headers of ground and does not link it",
             "src/roof/CMakeLists.txt: roof includes headers of ground and does not link it"])

    def test_names_an_unused_link(self):
        self.assertEqual(
            faults(**{"src/roof/roof.cc": '#include "ground/ground.h"',
                      "src/roof/roof_test.cc": '#include "middle/middle.h"',
                      "src/roof/CMakeLists.txt":
                      "berth_room(roof ROOMS ground middle SOURCES roof.cc TESTS roof_test.cc)"}),
            ["src/roof/CMakeLists.txt: roof links middle and includes none of its headers"])

    def test_names_an_unused_permission(self):
        self.assertEqual(
            faults(**{"src/roof/roof.cc": '#include "ground/ground.h"',
                      "src/roof/CMakeLists.txt": "berth_room(roof ROOMS ground SOURCES roof.cc)"}),
            ["scripts/rooms.toml: roof may see middle and includes none of its headers"])

    def test_names_an_arrow_that_the_picture_lacks(self):
        picture = "  upstairs    roof ──► middle\n            middle ──► {}\n"
        self.assertEqual(faults(**{"ARCHITECTURE.md": picture.format("ground")}), [])
        self.assertEqual(
            faults(**{"ARCHITECTURE.md": picture.format("roof")}),
            ["ARCHITECTURE.md: the picture of the rooms does not say that middle sees ground"])

    def test_names_a_source_that_is_not_listed(self):
        self.assertEqual(faults(**{"src/ground/forgotten.cc": ""}),
                         ["src/ground/forgotten.cc: is not named in a CMakeLists.txt"])


if __name__ == "__main__":
    unittest.main()
