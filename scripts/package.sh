#!/usr/bin/env bash
# Makes four Debian packages: feed-service, feed-tools with feedctl and loadgen, feed-runtime with the libraries
# of Swift that both need, and where Go is installed feed-replica, a node of a cluster (docs/CLUSTER.md).
#
#   scripts/package.sh                      builds the programs, and packs them
#   scripts/package.sh --output FOLDER      puts the packages there, and not into .build/packages
#   scripts/package.sh --version VERSION    packs under this version; otherwise ServiceVersion's, or if the
#                                           commit is no release of it, as 0.2.0~git20261128094820.c90f5e4c
#   scripts/package.sh --programs FOLDER    packs programs that were built before
#   scripts/package.sh --test               packs, and tries the packages in a fresh Debian 12, as root
#
# docs/OPERATIONS.md says what is in them. The same commit and programs give the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."
umask 022

release=$(sed -nE 's/^ *static let current = "([^"]+)"$/\1/p' Sources/FeedService/Wire/ServiceVersion.swift)
maintainer='The authors of feed-service <authors@feed-service.invalid>'
version=
output=.build/packages
programs=
is_test=false

fail() {
    echo "package: $*" >&2
    exit 2
}

while [[ $# -gt 0 ]]; do
    case $1 in
    --test) is_test=true ;;
    --output | --version | --programs)
        [[ $# -ge 2 ]] || fail "$1: expected a value."
        printf -v "${1#--}" %s "$2"
        shift
        ;;
    *) fail "expected --output, --version, --programs or --test, got $1." ;;
    esac
    shift
done
# The time of the commit is that of each file.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH

if [[ -z $version ]]; then
    version=$release
    # It sorts before the release that it leads to, and after the builds before it.
    [[ $(git tag --points-at HEAD) == *"v$release"* ]] ||
        version+="~git$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d%H%M%S).$(git rev-parse --short=8 HEAD)"
fi
[[ $version =~ ^[0-9][A-Za-z0-9.+~]*$ ]] || fail "--version: expected a version of Debian, got $version."

tools=(dpkg-deb dpkg-shlibdeps objdump python3 strip)
# Without them the tests would be skipped.
if $is_test; then tools+=(debootstrap ip lintian strace systemd-analyze); fi
for tool in "${tools[@]}"; do
    command -v "$tool" >/dev/null || fail "$tool is missing: scripts/install-dependencies.sh --package"
done

# The libraries of Swift: where the toolchain has them, and where the packages put them.
runtime=$(swift -print-target-info | python3 -c 'import json, sys; print(json.load(sys.stdin)["paths"]["runtimeLibraryPaths"][0])')
libraries=usr/lib/feed-service
export LD_LIBRARY_PATH=$runtime

if [[ -z $programs ]]; then
    scratch=.build-package
    for product in feed-service feedctl loadgen; do
        echo "==> Building $product"
        # Without a path of this machine in the program: neither for libraries nor for debuggers.
        swift build -c release --scratch-path "$scratch" --product "$product" --disable-local-rpath \
            --disable-index-store -Xswiftc -gnone -Xswiftc -no-toolchain-stdlib-rpath \
            -Xlinker -rpath -Xlinker "/$libraries"
    done
    programs=$scratch/release
    rm -f "$programs/feed-replica"
    if command -v go >/dev/null; then
        scripts/replica.sh build
        install -t "$programs" .build/replica/feed-replica .build/replica/feed-replica.copyright
    fi
fi
for name in feed-service feedctl loadgen; do
    [[ -x $programs/$name ]] || fail "--programs: there is no $name in $programs."
    if ! objdump -p "$programs/$name" | grep -q "RUNPATH */$libraries\$"; then
        fail "--programs: $programs/$name does not look for libraries in /$libraries; let this script build it."
    fi
done

[[ -x $programs/feed-replica ]] ||
    echo "==> feed-replica is skipped: there is none in $programs, as without Go" >&2

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$output"
# The recipe of the container takes what is there.
[[ $output != .build/packages ]] || rm -f "$output"/feed-*.deb

# The man page of a program: what it and each of its subcommands say, in a section each.
manual() {
    local program=$programs/$1 name=${1//-/\\-} help summary command
    local -x COLUMNS=72  # beside the margin of a page
    # Backslashes and dashes are written in a way of their own, and a line begins with no request.
    local escape=(sed -e 's/\\/\\e/g' -e 's/-/\\-/g' -e "s/^[.']/\\\\\&&/")
    help=$("$program" --help)
    summary=$(sed '/^$/,$d; s/^OVERVIEW: //' <<<"$help" | paste -sd ' ')
    printf '.TH "%s" "1" "%s" "%s %s" "User Commands"\n.ad l\n.SH NAME\n%s \\- %s\n.SH DESCRIPTION\n.nf\n' "${name^^}" \
        "$(date -u -d "@$SOURCE_DATE_EPOCH" +%F)" "$name" "$version" "$name" "${summary%.}"
    "${escape[@]}" <<<"$help"
    # Two subcommands of loadgen are not in its list.
    for command in $(sed -nE '/SUBCOMMANDS:$/,$s/^  ([a-z][a-z-]*) .*/\1/p' <<<"$help") \
        $([[ $name != loadgen ]] || echo dataset report); do
        printf '.SH "%s %s"\n.nf\n' "$name" "${command//-/\\-}"
        "$program" "$command" --help | "${escape[@]}"
    done
}

# Puts a program of a package where it belongs, with its man page and, if it is of Swift, its completions.
add_program() {
    local tree=$1 name=$2 share=$1/usr/share
    install -D -m 755 "$programs/$name" "$tree/usr/bin/$name"
    strip --strip-unneeded --remove-section=.comment "$tree/usr/bin/$name"
    mkdir -p "$share/man/man1"
    manual "$name" | gzip -9n >"$share/man/man1/$name.1.gz"
    [[ $name != feed-replica ]] || return 0
    mkdir -p "$share/bash-completion/completions" "$share/zsh/vendor-completions" "$share/fish/vendor_completions.d"
    "$programs/$name" --generate-completion-script bash | sed 1d >"$share/bash-completion/completions/$name"
    "$programs/$name" --generate-completion-script zsh >"$share/zsh/vendor-completions/_$name"
    "$programs/$name" --generate-completion-script fish >"$share/fish/vendor_completions.d/$name.fish"
}

# The licences of what a package has of others: Swift's runtime, the packages of Package.swift, or those of Debian
# that feed-replica is built from.
notices() {
    local file files
    files=("$(realpath "$programs")"/../../checkouts/*/{LICENSE,NOTICE}*)
    [[ $1 != feed-runtime ]] || files=("${runtime%/lib/swift/linux}"/share/swift/LICENSE.txt)
    [[ $1 != feed-replica ]] || files=("$programs/feed-replica.copyright")
    echo "Copyright $(date -u -d "@$SOURCE_DATE_EPOCH" +%Y) $maintainer. Libraries of others are in this package, under these licences:"
    for file in "${files[@]}"; do
        [[ -e $file ]] || continue
        printf '\n==== %s\n\n' "$(basename "$(dirname "$file")")"
        sed '/TERMS AND CONDITIONS FOR USE/,/END OF TERMS AND CONDITIONS/c\
   /usr/share/common-licenses/Apache-2.0 has the terms and conditions.' "$file"
    done
}

# The packages whose libraries the files of a tree need, as dpkg knows them here; those of the runtime are in
# no package yet.
dependencies() {
    local files
    mapfile -t files < <(find "$1" -type f \( -path '*/bin/*' -o -name '*.so' \) ! -name feed-replica)
    [[ ${#files[@]} -gt 0 ]] || return 0 # a program in Go needs none
    mkdir -p "$work/debian"
    printf 'Source: feed-service\n\nPackage: feed-service\nArchitecture: any\n' >"$work/debian/control"
    (cd "$work" && dpkg-shlibdeps --ignore-missing-info -l"$work/feed-runtime/$libraries" -O \
        "${files[@]}" 2>/dev/null) | sed -n 's/^shlibs:Depends=//p'
}

# Packs a tree under the name of a package, with its description and scripts of packaging/.
pack() {
    local name=$1 tree=$2 needs=$3 documents=$2/usr/share/doc/$1 depends
    mkdir -p "$tree/DEBIAN" "$documents"
    printf 'feed-service (%s) bookworm; urgency=medium\n\n  * CHANGELOG.md of the package feed-service has the changes.\n\n -- %s  %s\n' \
        "$version" "$maintainer" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")" | gzip -9n >"$documents/changelog.gz"
    notices "$name" >"$documents/copyright"
    depends=$(dependencies "$tree")
    {
        echo "Package: $name"
        echo "Version: $version"
        echo "Maintainer: $maintainer"
        echo "Architecture: $(dpkg --print-architecture)"
        echo "Depends: $depends${depends:+${needs:+, }}$needs"
        echo "Installed-Size: $(du -k -s --apparent-size "$tree" | cut -f1)"
        cat "packaging/$name/control"
    } >"$tree/DEBIAN/control"
    for script in postinst prerm postrm; do
        [[ ! -e packaging/$name/$script ]] || install -m 755 "packaging/$name/$script" "$tree/DEBIAN"
    done
    if [[ -d $tree/etc ]]; then
        (cd "$tree" && find etc -type f -printf '/%p\n' | LC_ALL=C sort) >"$tree/DEBIAN/conffiles"
    fi
    (cd "$tree" && find . -type f -not -path './DEBIAN/*' -not -path './etc/*' -printf '%P\n' |
        LC_ALL=C sort | xargs md5sum) >"$tree/DEBIAN/md5sums"
    find "$tree" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
    dpkg-deb --root-owner-group -Z"${DPKG_DEB_COMPRESSOR_TYPE:-xz}" --build "$tree" "$output" >/dev/null
    ls "$output/${name}_${version}"_*.deb
}

# The libraries of Swift that the programs need, found as the loader finds them.
mkdir -p "$work/feed-runtime/$libraries"
ldd "$programs"/{feed-service,feedctl,loadgen} | sed -nE "s,^.* => ($runtime/[^ ]+) .*\$,\1,p" | sort -u |
    while read -r library; do
        strip --strip-unneeded --remove-section=.comment -o "$work/feed-runtime/$libraries/${library##*/}" "$library"
    done
chmod 644 "$work/feed-runtime/$libraries"/*
pack feed-runtime "$work/feed-runtime" ""

add_program "$work/feed-service" feed-service
install -D -m 644 packaging/feed-service.service "$work/feed-service/lib/systemd/system/feed-service.service"
install -D -m 644 packaging/feed-service/feed-service.yaml "$work/feed-service/etc/feed-service/feed-service.yaml"
install -D -m 644 -t "$work/feed-service/usr/share/feed-service" proto/feed.proto monitoring/*
for page in README.md SECURITY.md CHANGELOG.md docs/*.md docs/*/*; do
    install -D -m 644 "$page" "$work/feed-service/usr/share/doc/feed-service/$page"
done
install -D -m 644 packaging/feed-service/lintian-overrides "$work/feed-service/usr/share/lintian/overrides/feed-service"
pack feed-service "$work/feed-service" "feed-runtime (= $version), passwd"

add_program "$work/feed-tools" feedctl
add_program "$work/feed-tools" loadgen
pack feed-tools "$work/feed-tools" "feed-runtime (= $version)"

if [[ -x $programs/feed-replica ]]; then
    tree=$work/feed-replica
    add_program "$tree" feed-replica
    install -D -m 644 -t "$tree/lib/systemd/system" packaging/feed-replica.service
    install -D -m 644 packaging/feed-replica/feed-service.conf "$tree/lib/systemd/system/feed-service.service.d/feed-replica.conf"
    install -D -m 644 -t "$tree/etc/feed-replica" packaging/feed-replica/feed-replica.yaml
    install -D -m 644 packaging/feed-replica/lintian-overrides "$tree/usr/share/lintian/overrides/feed-replica"
    pack feed-replica "$tree" "feed-service (= $version)"
fi

if $is_test; then
    FEED_PROGRAMS=$(realpath "$programs") exec /usr/bin/python3 -B -m unittest discover --verbose \
        --start-directory Tests/PackageTests
fi
