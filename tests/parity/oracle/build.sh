#!/usr/bin/env bash
# Builds the oracle from upstream's Go modules into FILE, unless it is there and newer than its sources, and
# prints where it is. The default is $XDG_CACHE_HOME/berth/upstream-VERSION/oracle, with go.mod's version of
# Kubernetes. The first build fetches and compiles minutes' worth of modules.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
version=$(sed -n 's|^\tk8s.io/kubernetes v||p' "$here/go.mod")
file=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/berth/upstream-$version/oracle}
mkdir -p "$(dirname "$file")"
file=$(realpath "$file")
newer=$(find "$here" \( -name '*.go' -o -name go.mod \) -newer "$file" -print -quit 2>/dev/null || true)
if [[ ! -x $file || -n $newer ]] && command -v go >/dev/null; then
  echo "building upstream's oracle into $file; the first time this takes minutes" >&2
  cd "$here"
  CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o "$file" .
  touch "$file" # Go leaves a program alone that would come out the same
fi
if [[ ! -x $file ]]; then
  echo "build.sh: there is no oracle $file; install Go to build it, or set BERTH_ORACLE" >&2
  exit 1
fi
echo "$file"
