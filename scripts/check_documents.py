#!/usr/bin/env python3
"""Runs the commands that a document shows with their output, and compares.

    check_documents.py FOLDER-OF-PROGRAMS DOCUMENT...

A command is a line `$ berth ...` in a fenced block; what it prints is the rest of the block. Run from the
top of the tree, because the commands name files from there. `$ kubectl ...` needs a cluster: the end-to-end
suite runs those.
"""
import difflib
import os
import re
import shlex
import subprocess
import sys


def shown(text, program):
    """The commands of that program and what they print."""
    for block in re.findall(r"^```\n(\$ .*?)^```$", text, re.M | re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            if command.split()[0] == program:
                yield command, output.rstrip("\n")


def main():
    programs, documents = sys.argv[1], sys.argv[2:]
    ran = failed = 0
    for document in documents:
        with open(document, encoding="utf-8") as file:
            text = file.read()
        for command, expected in shown(text, "berth"):
            name, *arguments = shlex.split(command)
            done = subprocess.run(
                [os.path.join(programs, name), *arguments], capture_output=True, text=True, check=False)
            printed = "\n".join(line.rstrip() for line in done.stdout.rstrip("\n").split("\n"))
            ran += 1
            if printed == expected:
                continue
            failed += 1
            print(f"{document}: $ {command}")
            print("\n".join(difflib.unified_diff(
                expected.split("\n"), printed.split("\n"), "shown", "printed", lineterm="")))
            print(done.stderr, end="")
    if not ran:
        sys.exit("no command found in " + " ".join(documents))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
