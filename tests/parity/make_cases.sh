#!/usr/bin/env bash
# Rebuilds cases/: topics with seeds 1..8, equal pods one after the other, and every configuration on the
# topics it touches.
# A case is NAME.cluster.json.gz, NAME.args and NAME.expected.json.gz; some have NAME.objections.json.gz too. Needs
# the oracle (oracle/build.sh).
#
#   make_cases.sh [TOPIC...]     only these topics; the cases of others stay
set -euo pipefail
cd "$(dirname "$0")"
oracle=${BERTH_ORACLE:-$(oracle/build.sh)}
topics=("$@")
((${#topics[@]})) || topics=(basic resources affinity spread ports images volumes dra preempt mixed owners features victims edges storage devices
  claims taintrules resized imagevolumes namespaces capacity drivers budgets entities groups grouptopology grouppreempt)
mkdir -p cases
for topic in "${topics[@]}"; do rm -f cases/"$topic"-*; done
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT

wanted() { local t; for t in "${topics[@]}"; do [[ $t == "$1" ]] && return; done; return 1; }

one() { # NAME TOPIC SEED "CASEGEN ARGS" "ORACLE ARGS"
  wanted "$2" || return 0
  ./casegen.py "$2" "$3" $4 > "$tmp/c.json"
  "$oracle" -cluster "$tmp/c.json" $5 > "$tmp/e.json" 2> "$tmp/err" || { cat "$tmp/err"; echo "$1 failed"; exit 1; }
  gzip -9nc "$tmp/c.json" > "cases/$1.cluster.json.gz"
  gzip -9nc "$tmp/e.json" > "cases/$1.expected.json.gz"
  echo "$5" | sed 's/ -/ --/g; s/^-/--/' > "cases/$1.args"
}

for topic in "${topics[@]}"; do
  case $topic in budgets | entities | group*) continue ;; esac
  more=""; case $topic in preempt | mixed | victims | edges) more="-preempt" ;; esac
  for seed in 1 2 3 4 5 6; do one "$topic-$seed" "$topic" $seed "" "$more"; done
  for seed in 7 8; do one "$topic-$seed-sequence" "$topic" $seed "--pending 40" "-sequence $more"; done
  for seed in 41 42; do
    one "$topic-$seed-copies" "$topic" $seed "--nodes 12 --bound 40 --pending 5 --copies 5" "-sequence $more"
  done
  # past 100 nodes upstream's preemption starts its search at random, unless told to look at all
  one "$topic-9-large" "$topic" 9 "--nodes 150 --bound 900 --pending 12" "${more:+$more -config configs/preemption-args.yaml}"
done
config() { local name=$1; shift; for topic in $1; do for seed in 21 22; do
  one "$topic-$seed-$name" "$topic" $seed "" "-config configs/$name.yaml ${*:2}"; done; done; }
config most-allocated "resources mixed edges"
config capacity-ratio "resources mixed edges"
config least-weighted "resources edges"
config ignored-resources "resources basic"
config spread-list "spread basic owners"
config spread-none "spread affinity owners"
config affinity-args "affinity mixed"
config affinity-zero "affinity features"
config added-affinity "affinity basic features"
config weights "images resources"
config few-plugins "spread affinity"
config two-profiles "affinity resources" -profile packer
config preemption-args "preempt victims" -preempt
config storage-shape "volumes mixed storage"
for name in most ratio alone; do config device-$name "devices"; done
for seed in 31 32 33; do one devices-$seed-preempt devices $seed "" "-preempt"; done
for name in limits-alone zone-alone no-binding filter-only restrictions-filter-only; do config volume-$name "storage"; done
for seed in 31 32; do one storage-$seed-no-scaling storage $seed "" "-feature-gates VolumeLimitScaling=false"; done
for seed in 31 32; do one capacity-$seed-no-scoring capacity $seed "" "-feature-gates StorageCapacityScoring=false"; done
for seed in 33 34; do one storage-$seed-preempt storage $seed "" "-preempt"; done
for seed in 31 32 33; do one features-$seed-comparing features $seed "" "-feature-gates TaintTolerationComparisonOperators=true"; done
# Of several budgets upstream asks in the order of a map: these are decided the same way in any order.
for seed in 1 13 14 30 42; do one budgets-$seed budgets $seed "" "-preempt"; done
# Whole scheduling cycles, of pods by themselves and of groups.
for seed in 1 2 3 4 5 6 7 8 9 10 11 12; do
  one entities-$seed entities $seed "" "-groups"
  one groups-$seed groups $seed "" "-groups"
done
for seed in 2 3 4 5 6 7 8 9 10 11 12; do
  one grouptopology-$seed grouptopology $seed "" "-groups -feature-gates TopologyAwareWorkloadScheduling=true"
done
for seed in 1 3 4 5 6 7 8 9 11 12; do one grouppreempt-$seed grouppreempt $seed "" "-groups"; done
for name in few-plugins most-allocated spread-none; do
  config $name "entities groups" -groups
  config $name "grouptopology" -groups -feature-gates TopologyAwareWorkloadScheduling=true
done
# What every plugin has against every node when it is asked alone.
for name in basic-3 resources-1 affinity-21-added-affinity spread-2 ports-1 preempt-1 features-2 edges-1 volumes-1 storage-2 \
  storage-21-volume-filter-only capacity-2 drivers-2 dra-2 devices-3 claims-3 mixed-7-sequence budgets-1; do
  wanted "${name%%-*}" || continue
  gzip -dc "cases/$name.cluster.json.gz" > "$tmp/c.json"
  "$oracle" -objections -cluster "$tmp/c.json" $(sed 's/--preempt//' "cases/$name.args") > "$tmp/o.json"
  python3 -c 'import json, sys; print(json.dumps({"decisions": [{k: d[k] for k in ("pod", "objections") if k in d}
    for d in json.load(sys.stdin)["decisions"]]}))' < "$tmp/o.json" | gzip -9nc > "cases/$name.objections.json.gz"
done
ls cases/*.args | wc -l
