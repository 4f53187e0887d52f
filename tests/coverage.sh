#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Line coverage of the given sources, from the notes in a MODE=cov build directory.
#   tests/coverage.sh BUILD SOURCE...
set -euo pipefail

build=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for source in "$@"; do
    data=$build/${source%.c}.gcda
    if [[ ! -e $data ]]; then
        printf '%6s %6s  %s\n' '0.00' '?' "$source"
        continue
    fi
    gcov -n -o "$(dirname "$data")" "$data" 2>/dev/null |
        awk -v source="$source" '
            $0 ~ "^File .*" source "\047" { here = 1; next }
            here && /^Lines executed:/ { split($2, a, ":"); sub("%", "", a[2])
                printf "%6s %6s  %s\n", a[2], $4, source; here = 0 }'
done | tee "$work/table" | sort -n
awk '$2 != "?" { lines += $2; hit += $1 * $2 / 100 } END { printf "%6.2f %6d  in all\n", 100 * hit / lines, lines }' \
    "$work/table"
