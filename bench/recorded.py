"""Recorded figures: tables in tab-separated files, and how a new figure compares."""
import argparse
import os
import platform


def arguments(description):
    """What both scripts are told."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--berth", required=True)
    parser.add_argument("--filter", default="")
    parser.add_argument("--record", action="store_true")
    return parser.parse_args()


def read(path):
    """{workload: {column: text}}; nothing was recorded yet if there is no file."""
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file if line.strip() and not line.startswith("#")]
    columns = lines[0].split("\t")
    rows = [dict(zip(columns, line.split("\t"))) for line in lines[1:]]
    return {row["workload"]: row for row in rows}


def write(path, comments, columns, rows):
    with open(path, "w", encoding="utf-8") as file:
        for comment in comments:
            file.write(f"# {comment}\n")
        file.write("\t".join(columns) + "\n")
        for row in rows:
            file.write("\t".join(str(row[column]) for column in columns) + "\n")


def machine():
    model = "an unknown processor"
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    model = line.split(":", 1)[1].strip()
                    break
    except OSError:
        pass
    return f"{model}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}"


def table(header, rows):
    """Text in the first and last column, numbers in between."""
    widths = [max(len(row[i]) for row in [header] + rows) for i in range(len(header))]
    last = len(header) - 1
    return "\n".join(
        "  " + "  ".join(cell.ljust(width) if i in (0, last) else cell.rjust(width)
                         for i, (cell, width) in enumerate(zip(row, widths))).rstrip()
        for row in [header] + rows)
