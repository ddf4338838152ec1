#!/usr/bin/env bash
# Builds and tests feed-replica, the node of a replicated log beside the service (docs/CLUSTER.md).
#
#   scripts/replica.sh build              .build/replica/feed-replica
#   scripts/replica.sh build --faults     .build/replica/feed-replica-faults, for soaks: a file that the variable
#                                         FEED_REPLICA_SYNC_FAULT names lets its syncs hang, fail or take longer
#   scripts/replica.sh test [FLAG ...]    gofmt, go vet, staticcheck if it is there, and all Go tests; flags
#                                         are those of `go test`, as -run TestSimulation -count 20
#
# It is of Go and of etcd's packages, both as Debian ships them: Go is installed, the sources of etcd are
# only unpacked, into .build/replica, as their package and protoc-gen-go's cannot both be installed.
set -euo pipefail
cd "$(dirname "$0")/.."

# The packages whose sources the program is built from, with any release of etcd; `unpack_sources` adds what
# one needs, and replica/etcd has a file for each.
tag=
sources=(golang-etcd-server-dev golang-github-beorn7-perks-dev golang-github-cespare-xxhash-dev
         golang-github-coreos-go-semver-dev golang-github-coreos-go-systemd-dev
         golang-github-coreos-pkg-dev golang-github-dustin-go-humanize-dev
         golang-github-gogo-protobuf-dev
         golang-github-prometheus-client-golang-dev golang-github-prometheus-client-model-dev
         golang-github-prometheus-common-dev golang-github-prometheus-procfs-dev
         golang-github-xiang90-probing-dev golang-go.uber-atomic-dev golang-go.uber-multierr-dev
         golang-go.uber-zap-dev golang-golang-x-sys-dev golang-golang-x-time-dev
         golang-google-grpc-dev golang-google-protobuf-dev golang-gopkg-yaml.v2-dev
         golang-protobuf-extensions-dev)

fail() {
    echo "replica: $*" >&2
    exit 2
}

as_root() {
    if [[ $(id -u) -eq 0 ]]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        fail "this needs root, and there is no sudo: $*"
    fi
}

command=${1:-}
[[ $command == build || $command == test ]] || fail "expected build or test, got '$command'."
shift
[[ $command == test || $# -eq 0 || $* == --faults ]] || fail "build: expected --faults or nothing, got $*."

work=$PWD/.build/replica
gopath=$work/gopath/usr/share/gocode

install_go() {
    command -v go >/dev/null && return
    command -v apt-get >/dev/null || fail "go is missing, and this machine has no apt-get."
    echo "==> Go: installing golang-go"
    as_root apt-get update -qq
    DEBIAN_FRONTEND=noninteractive as_root apt-get install -y -qq --no-install-recommends golang-go >/dev/null
}

# Unpacks the sources once; another list of packages, or another version of etcd, unpacks them again.
unpack_sources() {
    local wanted package
    wanted=$(apt-cache policy golang-etcd-server-dev 2>/dev/null | sed -n 's/^ *Candidate: //p')
    if [[ -z $wanted || $wanted == "(none)" ]]; then
        as_root apt-get update -qq
        wanted=$(apt-cache policy golang-etcd-server-dev | sed -n 's/^ *Candidate: //p')
    fi
    case $wanted in
    # Debian 12
    3.4.*) sources+=(golang-github-golang-protobuf-1-3-dev) ;;
    # Debian 13
    3.5.*)
        sources+=(golang-github-golang-protobuf-1-5-dev golang-github-munnerz-goautoneg-dev)
        tag=etcd35
        ;;
    *) fail "expected golang-etcd-server-dev 3.4 or 3.5, and the package sources of this machine have '$wanted'." ;;
    esac
    wanted+=" ${sources[*]}"
    [[ "$(cat "$work/unpacked" 2>/dev/null)" != "$wanted" ]] || return 0
    echo "==> Sources: unpacking ${#sources[@]} packages into ${work#"$PWD"/}"
    rm -rf "$work/gopath" "$work/packages" "$work/unpacked"
    mkdir -p "$work/gopath" "$work/packages"
    (cd "$work/packages" && apt-get download -qq "${sources[@]}" 2>"$work/download.log") ||
        (as_root apt-get update -qq && cd "$work/packages" && apt-get download -qq "${sources[@]}") ||
        fail "cannot download: $(cat "$work/download.log")"
    for package in "$work"/packages/*.deb; do dpkg -x "$package" "$work/gopath"; done
    rm -rf "$work/packages"
    echo "$wanted" >"$work/unpacked"
}

install_go
unpack_sources
# Each time: a clone may have been moved.
ln -sfn "$PWD/replica" "$gopath/src/feed-replica"
# Nothing is fetched: all sources are those of the packages.
export GOPATH=$gopath GO111MODULE=off GOPROXY=off GOFLAGS=-trimpath GOTOOLCHAIN=local CGO_ENABLED=0

build() {
    local version file program=feed-replica tags=$tag
    [[ $# -eq 0 ]] || program=feed-replica-faults tags=faults,$tag
    version=$(sed -nE 's/^ *static let current = "([^"]+)"$/\1/p' Sources/FeedService/Wire/ServiceVersion.swift)
    echo "==> Building $program $version"
    go build -tags "$tags" -ldflags "-X main.version=$version" -o "$work/$program" feed-replica
    # The licences of all that is in it, for a package.
    for file in "$gopath"/../doc/*/copyright /usr/share/doc/golang-*-go/copyright; do
        printf '\n==== %s\n\n' "$(basename "$(dirname "$file")")"
        cat "$file"
    done >"$work/feed-replica.copyright"
    echo "==> ${work#"$PWD"/}/$program"
}

run_tests() {
    local unformatted tool
    echo "==> gofmt"
    unformatted=$(gofmt -l replica)
    [[ -z $unformatted ]] || fail "gofmt would change: $unformatted"
    # `./...` finds the packages of the folder that the link leads to; with the tag, also the faults.
    cd "$gopath/src/feed-replica"
    echo "==> go vet"
    go vet -tags "$tag" ./...
    go vet -tags "faults,$tag" ./...
    tool=$(command -v staticcheck || command -v go-staticcheck || true)
    if [[ -n $tool ]]; then
        echo "==> staticcheck"
        "$tool" -tags "faults,$tag" ./...
        "$tool" -tags "$tag" ./...
    else
        echo "==> staticcheck is not installed (Debian has it as go-staticcheck): skipped"
    fi
    echo "==> go test, with the faults that show that the audits see them"
    go test -tags "faults,$tag" -timeout 30m "$@" ./...
}

case $command in
build) build "$@" ;;
test) run_tests "$@" ;;
esac
