#!/bin/sh
# Takes a feed-service package apart into the layers of a container, in a Debian that has what it needs.
#
#   layers.sh PACKAGE FOLDER
#
# FOLDER/libraries, FOLDER/program and FOLDER/configuration each have the files of a layer, where they
# are in the container. No layer has a shell, a package manager or a tool.
set -eu

package=$1
folder=$2
user=65532
files=$(mktemp -d)
dpkg-deb --extract "$package" "$files"

# The loader and each library that it finds for the program.
mkdir -p "$folder/libraries/etc"
ldd "$files/usr/bin/feed-service" | sed -nE 's/^.*[[:space:]](\/[^ ]+) \(0x[0-9a-f]+\)$/\1/p' |
    while read -r library; do
        mkdir -p "$folder/libraries$(dirname "$library")"
        cp --dereference "$library" "$folder/libraries$library"
    done

mkdir -p "$folder/program/usr/bin"
cp "$files/usr/bin/feed-service" "$folder/program/usr/bin/"

mkdir -p "$folder/configuration/etc" "$folder/configuration/tmp" \
    "$folder/configuration/var/lib/feed-service"
cp -R "$files/etc/." "$folder/configuration/etc/"
echo "feed-service:x:$user:$user::/var/lib/feed-service:/usr/sbin/nologin" \
    >"$folder/configuration/etc/passwd"
echo "feed-service:x:$user:" >"$folder/configuration/etc/group"
chmod 1777 "$folder/configuration/tmp"
chmod 0700 "$folder/configuration/var/lib/feed-service"
chown "$user:$user" "$folder/configuration/var/lib/feed-service"
rm -r "$files"
