#!/usr/bin/env python3
"""Inputs of a size at which the speed of `berth simulate` is measured, as JSON on stdout.

    simulation_inputs.py cluster [--nodes 5000] [--pods 100000] [--specs 500]    a v1 List: nodes and pending pods
    simulation_inputs.py nodes [--nodes 5000]                                    a v1 List: nodes alone
    simulation_inputs.py day [--pods 1000000] [--specs 500]                      a Scenario: pods come and go
"""
import argparse
import json
import sys

ZONES = 3


def node(number):
    name = f"node-{number}"
    return {
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {
            "kubernetes.io/hostname": name, "kubernetes.io/os": "linux",
            "topology.kubernetes.io/zone": f"zone-{number % ZONES}"}},
        "status": {"capacity": {"cpu": "32", "memory": "128Gi", "pods": "110"},
                   "allocatable": {"cpu": "32", "memory": "128Gi", "pods": "110"},
                   "conditions": [{"type": "Ready", "status": "True"}]}}


def pod(spec):
    """What the pods of one spec have in common."""
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"namespace": "default", "labels": {"app": f"app-{spec}"}},
        "spec": {"containers": [{
            "name": "main", "image": f"registry.example/app-{spec}:1.0",
            "resources": {"requests": {"cpu": f"{100 + spec % 500 * 2}m",
                                       "memory": f"{128 + spec % 37 * 16}Mi"}}}]}}


def named(manifest, name):
    return {**manifest, "metadata": {"name": name, **manifest["metadata"]}}


def write_list(items):
    sys.stdout.write('{"apiVersion":"v1","kind":"List","items":[')
    for number, item in enumerate(items):
        sys.stdout.write((",\n" if number else "\n") + json.dumps(item, separators=(",", ":")))
    sys.stdout.write("\n]}\n")


def cluster(given):
    for number in range(given.nodes):
        yield node(number)
    for number in range(given.pods):
        yield named(pod(number % given.specs), f"pod-{number}")


def day(given):
    """Pods all day long, each of which runs for minutes or hours."""
    return {
        "kind": "Scenario",
        "arrivals": [{
            "name": "day", "count": given.pods, "over": "24h",
            "runs": ["1m", "5m", "10m", "30m", "1h", "2h"],
            "pods": [pod(spec) for spec in range(given.specs)]}]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["cluster", "nodes", "day"])
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int)
    parser.add_argument("--specs", type=int, default=500)
    given = parser.parse_args()
    if given.pods is None:
        given.pods = {"cluster": 100_000, "nodes": 0, "day": 1_000_000}[given.what]
    if given.what == "day":
        json.dump(day(given), sys.stdout)
        sys.stdout.write("\n")
    else:
        write_list(cluster(given))


if __name__ == "__main__":
    main()
