#!/usr/bin/env python3
"""Checks that docs/flags.md and docs/metrics.md list what there is, no more and no less.

    check_reference.py PATH-OF-BERTH

Flags are compared with `berth scheduler --help`: group, name, short form, default. Metrics are
compared with the tables in src/telemetry: name, type, labels, level. Run from the top of the tree.
"""
import re
import subprocess
import sys


def rows(document):
    """(heading, cells) of each table row that begins with code."""
    heading = ""
    with open(document, encoding="utf-8") as file:
        for line in file:
            if line.startswith("## "):
                heading = line[3:].strip()
            elif line.startswith("| `"):
                # A bar inside a cell would be written as \|; there is none.
                yield heading, [cell.strip() for cell in line.strip().strip("|").split("|")]


def flags_of_document():
    for group, (flag, default, meaning) in rows("docs/flags.md"):
        yield group, flag.strip("`"), default.strip("`"), bool(meaning)


def flags_of_program(berth):
    done = subprocess.run([berth, "scheduler", "--help"], capture_output=True, text=True, check=True)
    group = None
    for line in done.stdout.split("\n"):
        if heading := re.fullmatch(r"(\w[\w ]*) flags:", line):
            group = heading[1]
        elif flag := re.match(r" +(-\w, )?(--[a-z0-9-]+)", line):
            default = re.search(r"\(default (.*)\)$", line.rstrip())
            yield group, (flag[1] or "") + flag[2], default[1].strip('"') if default else "", True


def metrics_of_document():
    for _, (name, kind, labels, level, meaning) in rows("docs/metrics.md"):
        yield name.strip("`"), kind, labels, level, bool(meaning)


def metrics_of_program():
    """From the C++ tables: designated initialisers, always in the same order."""
    for source in ("metrics.cc", "scheduler_metrics.cc", "program_metrics.cc"):
        with open("src/telemetry/" + source, encoding="utf-8") as file:
            text = file.read()
        for name, fields in re.findall(r'\.name = "(\w+)",(.*?)\.help\b', text, re.S):
            kind = re.search(r"MetricType::k(\w+)", fields)
            level = re.search(r"Stability::k(\w+)", fields)
            labels = re.search(r"\.labels = \{([^}]*)\}", fields)
            yield (name, kind[1].lower() if kind else "counter",
                   ", ".join(re.findall(r'"(\w+)"', labels[1])) if labels else "",
                   level[1].lower() if level else "alpha", True)
    with open("src/telemetry/process_metrics.cc", encoding="utf-8") as file:
        text = file.read()
    for name, kind in re.findall(r'\bspec\(\s*"(\w+)",\s*(?:MetricType::)?k(\w+)', text):
        yield name, kind.lower(), "", "", True


def compare(what, document, shown, there):
    shown, there = list(shown), list(there)
    faults = [f"{document}: not so: {row}" for row in shown if row not in there]
    faults += [f"{document}: missing: {row}" for row in there if row not in shown]
    faults += [f"{document}: twice: {row}" for row in set(shown) if shown.count(row) > 1]
    if len(there) < 50:
        faults.append(f"only {len(there)} {what} found in the program: this check is out of date")
    return faults


def main():
    faults = compare("flags", "docs/flags.md", flags_of_document(), flags_of_program(sys.argv[1]))
    faults += compare("metrics", "docs/metrics.md", metrics_of_document(), metrics_of_program())
    print("\n".join(faults))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
