#!/bin/sh
# Takes the packages apart into the layers of a container, in a Debian that has them installed.
#
#   layers.sh FOLDER PACKAGE…
#
# FOLDER/libraries, FOLDER/program and FOLDER/configuration each have the files of a layer, where they
# are in the container. No layer has a shell, a package manager or a tool but feedctl, for health checks.
set -eu

folder=$1
shift
user=65532
files=$(mktemp -d)
for package; do dpkg-deb --extract "$package" "$files"; done

# The loader and each library that it finds for the programs.
mkdir -p "$folder/libraries/etc" "$folder/program/usr/bin"
for program in feed-service feedctl; do
    cp "$files/usr/bin/$program" "$folder/program/usr/bin/"
    ldd "$files/usr/bin/$program"
done | sed -nE 's/^.*[[:space:]](\/[^ ]+) \(0x[0-9a-f]+\)$/\1/p' | sort -u |
    while read -r library; do
        mkdir -p "$folder/libraries$(dirname "$library")"
        cp --dereference "$library" "$folder/libraries$library"
    done

mkdir -p "$folder/configuration/etc" "$folder/configuration/tmp" \
    "$folder/configuration/var/lib/feed-service"
cp -R "$files/etc/feed-service" "$folder/configuration/etc/"
echo "feed-service:x:$user:$user::/var/lib/feed-service:/usr/sbin/nologin" \
    >"$folder/configuration/etc/passwd"
echo "feed-service:x:$user:" >"$folder/configuration/etc/group"
chmod 1777 "$folder/configuration/tmp"
chmod 0700 "$folder/configuration/var/lib/feed-service"
chown "$user:$user" "$folder/configuration/var/lib/feed-service"
rm -r "$files"
