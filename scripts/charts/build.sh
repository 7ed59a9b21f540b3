#!/usr/bin/env bash
# Builds helm and promtool from their Go modules, to check what packaging/ has for them.
#
#   build.sh          builds what is not there yet, which takes minutes; prints the folder that has both
#   build.sh --there  builds nothing
#
# They go to $XDG_CACHE_HOME/berth/charts-HELM-PROMETHEUS (below ~/.cache by default), with the versions in go.mod.
# Where they cannot be had the last line is `skipped: ` and why.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

version_of() { sed -n "s|^\t$1 v||p" go.mod; }
folder=${XDG_CACHE_HOME:-$HOME/.cache}/berth/charts-$(version_of helm.sh/helm/v4)
folder+=-$(version_of github.com/prometheus/prometheus)
declare -A package=([helm]=helm.sh/helm/v4/cmd/helm [promtool]=github.com/prometheus/prometheus/cmd/promtool)

missing=()
for program in helm promtool; do
  [[ -x $folder/$program ]] || missing+=("$program")
done

if ((${#missing[@]})); then
  if [[ ${1:-} == --there ]]; then
    echo "skipped: no helm and promtool yet; ./dev check charts builds them"
    exit
  fi
  # The release that the modules ask for, and none that Go would fetch by itself.
  export GOTOOLCHAIN=local CGO_ENABLED=0
  major=0 minor=0
  if command -v go >/dev/null && [[ $(go env GOVERSION) =~ ^go([0-9]+)\.([0-9]+) ]]; then
    major=${BASH_REMATCH[1]} minor=${BASH_REMATCH[2]}
  fi
  if ((major < 1 || (major == 1 && minor < 26))); then
    echo "skipped: no Go 1.26"
    exit
  fi
  mkdir -p "$folder"
fi

# Without this tag promtool has clients for every cloud that Prometheus can ask for targets.
for program in "${missing[@]}"; do
  echo "building $program" >&2
  go build -trimpath -tags remove_all_sd -ldflags "-s -w" -o "$folder/$program" "${package[$program]}"
done
echo "$folder"
