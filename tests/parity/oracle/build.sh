#!/usr/bin/env bash
# Builds the oracle from upstream's Go modules into FILE (default: $XDG_CACHE_HOME/berth/upstream/oracle)
# and prints where it is. The first build fetches and compiles minutes' worth of modules.
set -euo pipefail
file=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/berth/upstream/oracle}
mkdir -p "$(dirname "$file")"
file=$(realpath "$file")
cd "$(dirname "$0")"
CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o "$file" .
echo "$file"
