#!/usr/bin/env python3
"""Checks what packaging/monitoring/ says against what berth serves.

Every series and every label that a query of the dashboard or of the alert rules names is one that berth registers
(the tables in src/telemetry). Each alert looks at one job, has a severity, texts and a row in README.md, and
rules_test.yaml has a case in which it fires and one in which it does not. The dashboard is formatted, and its panels
do not overlap. Run from the top of the tree.
"""
import json
import re
import sys

from check_reference import metrics_of_program

FOLDER = "packaging/monitoring/"
# What Prometheus adds to each target, and the series that it makes of it.
OF_TARGETS = {"job", "instance", "namespace", "pod"}
OF_PROMETHEUS = {"up": OF_TARGETS}
OPERATORS = {"and", "or", "unless", "bool", "offset", "inf", "nan"}
LABEL_LISTS = r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)"
JOB = 'job="berth-scheduler"'  # what the chart replaces

faults = []


def expect(true, text):
    if not true:
        faults.append(text)


def read(name):
    with open(FOLDER + name, encoding="utf-8") as file:
        return file.read()


def series_of_program():
    """The labels of every series that can be asked for, by its name."""
    series = dict(OF_PROMETHEUS)
    for name, kind, labels, _, _ in metrics_of_program():
        there = OF_TARGETS | set(filter(None, labels.split(", ")))
        if kind == "histogram":
            series |= {name + "_sum": there, name + "_count": there, name + "_bucket": there | {"le"}}
        else:
            series[name] = there
    return series


def selectors(expression):
    """(series, what stands in its braces) of each selector in a PromQL expression."""
    text = re.sub(r"\[[^\]]*\]", "", re.sub(LABEL_LISTS, " ", expression))
    for name, matchers in re.findall(r"\b([a-zA-Z_:][\w:]*)\b(?!\s*\()\s*(\{[^}]*\})?", text):
        if name not in OPERATORS:
            yield name, matchers


def matched_labels(matchers):
    return set(re.findall(r'(\w+)\s*(?:=~|!~|!=|=)\s*"', matchers))


def check_expression(where, expression, series):
    known = set()
    for name, matchers in selectors(expression):
        if name not in series:
            faults.append(f"{where}: berth has no series {name}")
            continue
        known |= series[name]
        for label in matched_labels(matchers) - series[name]:
            faults.append(f"{where}: {name} has no label {label}")
    for labels in re.findall(LABEL_LISTS, expression):
        for label in set(re.findall(r"\w+", labels)) - known:
            faults.append(f"{where}: nothing in it has a label {label}")
    return known


# ---- rules.yaml -----------------------------------------------------------------------------------


def alerts():
    """(name, its fields by name) of each alert: a text stands on the line of its key, or deeper below it."""
    for text in re.split(r"^  - alert: ", read("rules.yaml"), flags=re.M)[1:]:
        name, *lines = text.split("\n")
        fields, key, depth = {}, "", 0
        for line in lines:
            at = len(line) - len(line.lstrip())
            if key and at > depth:
                fields[key] += line + "\n"
                continue
            key, depth = "", at
            if field := re.fullmatch(r" +(\w+): (.+)", line):
                folded = field[2] in ("|-", ">-")
                fields[field[1]] = "" if folded else field[2]
                key = field[1] if folded else ""
        yield name, fields


def check_rules(series):
    readme, tests = read("README.md"), read("rules_test.yaml")
    count = 0
    for name, fields in alerts():
        count += 1
        expression = fields.get("expr", "")
        expect(expression and fields.get("for"), f"{name}: no expression, or no time that it must hold")
        known = check_expression(name, expression, series)
        for metric, matchers in selectors(expression):
            expect(JOB in matchers, f"{name}: {metric} is asked for without {JOB}")
        expect(fields.get("severity") in ("critical", "warning", "info"), f"{name}: severity {fields.get('severity')}")
        for text in ("summary", "description"):
            expect(fields.get(text), f"{name}: no {text}")
            for label in re.findall(r"\$labels\.(\w+)", fields.get(text, "")):
                expect(label in known, f"{name}: its {text} speaks of a label {label}")
        expect(f"| `{name}` |" in readme, f"README.md does not explain {name}")
        quiet = re.findall(rf"alertname: {name}(?:\n +|, )exp_alerts: \[\]", tests)
        firing = re.findall(rf"alertname: {name}\n +exp_alerts:\n", tests)
        expect(quiet and firing, f"rules_test.yaml: {name} fires {len(firing)} times, and {len(quiet)} times does not")
    expect(count > 15, f"only {count} alerts found: this check is out of date")
    for name in re.findall(r"^\| `(BerthScheduler\w+)` \|", readme, re.M):
        expect(name in dict(alerts()), f"README.md explains {name}, which is no alert")


# ---- dashboard.json -------------------------------------------------------------------------------


def cells(panel):
    place = panel["gridPos"]
    return {(x, y) for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])}


def check_places(panels):
    taken = set()
    for panel in panels:
        mine = cells(panel)
        expect(not mine & taken, f"{panel['title']}: lies upon another panel")
        expect(max(x for x, _ in mine) < 24, f"{panel['title']}: goes beyond the right edge")
        taken |= mine


def check_dashboard(series):
    text = read("dashboard.json")
    dashboard = json.loads(text)
    expect(text == json.dumps(dashboard, indent=2) + "\n", "dashboard.json: not as json.dumps(..., indent=2) has it")
    variables = dashboard["templating"]["list"]
    names = [variable["name"] for variable in variables]
    expect(names == ["datasource", "namespace", "job", "instance"], f"dashboard.json: its variables are {names}")
    source = {"type": "prometheus", "uid": "${datasource}"}
    for variable in variables[1:]:
        label_values = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"]["query"])
        check_expression(f"variable {variable['name']}", label_values[1], series)
        expect(variable["datasource"] == source, f"variable {variable['name']}: another data source")
    rows = [panel for panel in dashboard["panels"] if panel["type"] == "row"]
    check_places(dashboard["panels"])
    for row in rows:
        check_places(row["panels"])
    everything = dashboard["panels"] + [panel for row in rows for panel in row["panels"]]
    numbers = [panel["id"] for panel in everything]
    expect(len(set(numbers)) == len(numbers), "dashboard.json: two panels with one number")
    panels = [panel for panel in everything if panel["type"] != "row"]
    expect(len(panels) > 30, f"only {len(panels)} panels found: this check is out of date")
    for panel in panels:
        title = panel["title"]
        expect(panel["description"] and panel["fieldConfig"]["defaults"]["unit"], f"{title}: no description or unit")
        expect(panel["targets"], f"{title}: asks nothing")
        for target in panel["targets"]:
            known = check_expression(title, target["expr"], series)
            for name, matchers in selectors(target["expr"]):
                expect({"namespace", "job", "instance"} <= matched_labels(matchers), f"{title}: {name} of all targets")
            for label in re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]):
                expect(label in known, f"{title}: its legend speaks of a label {label}")
            expect(target["legendFormat"], f"{title}: a query without a legend")
            expect(target["datasource"] == panel["datasource"] == source, f"{title}: another data source")


def main():
    series = series_of_program()
    expect(len(series) > 150, f"only {len(series)} series found in the program: this check is out of date")
    check_rules(series)
    check_dashboard(series)
    print("\n".join(faults))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
