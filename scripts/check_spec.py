#!/usr/bin/env python3
"""Checks that every reference to the specification leads to a section of it.

    check_spec.py

References look like `core.md §7.4`, `shell.md §1.2, §1.5` and `plugins.md §3.6 to 3.8`, in sources, tests and
documents; a comment may break the line anywhere in them. Run from the top of the tree.
"""
import glob
import re
import sys

SPEC = "docs/spec"
READ = ["src/**/*.h", "src/**/*.cc", "include/**/*.h", "tests/**/*.h", "tests/**/*.cc", "tests/**/*.py",
        "bench/**/*.cc", "*.md", "docs/*.md", "tests/**/*.md"]
NUMBER = r"§?\d+(?:\.\d+)*"
REFERENCE = re.compile(rf"\b([a-z][a-z0-9.-]*)\.md((?:(?:,| to| and)? {NUMBER})+)")
HEADING = re.compile(r"^#+ (\d+(?:\.\d+)*)\.? ", re.MULTILINE)
LINE_BREAK = re.compile(r"\n\s*(?://|#)?\s*")


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def main():
    sections = {}
    for path in glob.glob(f"{SPEC}/*.md"):
        sections[path[len(SPEC) + 1:-len(".md")]] = set(HEADING.findall(text_of(path)))
    wrong, references = [], 0
    for path in sorted({path for pattern in READ for path in glob.glob(pattern, recursive=True)}):
        for match in REFERENCE.finditer(LINE_BREAK.sub(" ", text_of(path))):
            name, numbers = match[1], re.findall(r"\d+(?:\.\d+)*", match[2])
            if "§" not in match[2]:
                continue
            references += len(numbers)
            if name not in sections:
                wrong.append(f"{path}: {name}.md is not in {SPEC}")
                continue
            wrong += [f"{path}: {name}.md has no section {number}" for number in numbers
                      if number not in sections[name]]
    for line in wrong:
        print(line)
    if references == 0:
        print("no reference to the specification was found")
    return 1 if wrong or references == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
