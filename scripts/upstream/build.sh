#!/usr/bin/env bash
# Builds the real Kubernetes components from Go modules, to test and measure beside them:
# etcd, kube-apiserver, kube-scheduler, kubectl, and load (makes nodes and pods).
#
#   build.sh [PROGRAM...]   (default: these; by name also e2e.test, upstream's end-to-end suite,
#                            and kube-controller-manager)
#
# They go to $XDG_CACHE_HOME/berth/upstream-VERSION (below ~/.cache by default), with go.mod's version of
# Kubernetes; the folder is printed at the end. The first run takes minutes; what is there is not built again.
# Without a recent Go the last line is `skipped: no Go 1.26`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

version=$(sed -n 's|^\tk8s.io/kubernetes v||p' go.mod)
IFS=. read -r kubernetes_major kubernetes_minor _ <<<"$version"
folder=${XDG_CACHE_HOME:-$HOME/.cache}/berth/upstream-$version
programs=("$@")
((${#programs[@]})) || programs=(etcd kube-apiserver kube-scheduler kubectl load)

missing=()
for program in "${programs[@]}"; do
  [[ -x $folder/$program ]] || missing+=("$program")
done

if ((${#missing[@]})); then
  # The release that the modules ask for, and none that Go would fetch by itself.
  export GOTOOLCHAIN=local CGO_ENABLED=0
  major=0 minor=0
  if command -v go >/dev/null && [[ $(go env GOVERSION) =~ ^go([0-9]+)\.([0-9]+) ]]; then
    major=${BASH_REMATCH[1]} minor=${BASH_REMATCH[2]}
  fi
  if ((major < 1 || (major == 1 && minor < 26))); then
    echo "skipped: no Go 1.26"
    exit 0
  fi
  mkdir -p "$folder"
fi

stamp="-s -w -X k8s.io/component-base/version.gitVersion=v$version
  -X k8s.io/component-base/version.gitMajor=$kubernetes_major
  -X k8s.io/component-base/version.gitMinor=$kubernetes_minor"
for program in "${missing[@]}"; do
  echo "building $program" >&2
  case $program in
    etcd) (cd etcd && go build -trimpath -ldflags "-s -w" -o "$folder/etcd" go.etcd.io/etcd/server/v3) ;;
    load) go build -trimpath -ldflags "-s -w" -o "$folder/load" ./load ;;
    e2e.test) go test -c -vet=off -trimpath -ldflags "${stamp//$'\n'/ }" -o "$folder/e2e.test" ./suite ;;
    kube-apiserver | kube-scheduler | kube-controller-manager | kubectl)
      go build -trimpath -ldflags "${stamp//$'\n'/ }" -o "$folder/$program" "k8s.io/kubernetes/cmd/$program" ;;
    *) echo "build.sh: unknown program $program" >&2 && exit 2 ;;
  esac
done
echo "$folder"
