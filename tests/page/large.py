"""A cluster of many nodes, as manifests and a scenario for `berth simulate`."""


def manifests(pods):
    """Deployments of different sizes that come to `pods` pods, and one that fits nowhere."""
    documents = []
    sizes = [("web", "500m", "1Gi", 5), ("api", "1", "2Gi", 3), ("batch", "2", "4Gi", 2)]
    for name, cpu, memory, share in sizes:
        documents.append(deployment(name, pods * share // 10, cpu, memory))
    documents.append(deployment("huge", 20, "96", "1Ti"))
    return "---\n".join(documents)


def deployment(name, replicas, cpu, memory):
    return f"""apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
      containers: [{{name: c, image: {name}, resources: {{requests: {{cpu: "{cpu}", memory: {memory}}}}}}}]
"""


def scenario(nodes):
    return f"""kind: Scenario
nodePools:
- name: node
  count: {nodes}
  zones: [a, b, c]
  node: {{status: {{capacity: {{cpu: "8", memory: 32Gi, pods: "110"}}}}}}
events:
- {{at: 5s, cordon: node-7}}
- {{at: 10s, taint: {{node: node-9, key: team, value: red, effect: NoSchedule}}}}
"""
