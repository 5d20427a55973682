#!/bin/sh
# Builds the guest's program, one static binary for all its roles: build.sh OUTPUT_FOLDER. Needs gcc and libc6-dev.
# CFLAGS_EXTRA is for the tests (sanitizers; STATIC= without a static link, which they need).
# Paths that do not fit are cut, and then not found: no warning of each.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:?usage: build.sh OUTPUT_FOLDER}
mkdir -p "$out"
${CC:-gcc} -std=c11 -D_GNU_SOURCE -O2 -g0 -Wall -Wextra -Wno-format-truncation -Werror ${STATIC--static -s} ${CFLAGS_EXTRA:-} \
  -o "$out/vitto-guest" "$here"/*.c
for role in vitto-init vitto-agent vitto-git-ssh; do ln -sf vitto-guest "$out/$role"; done
