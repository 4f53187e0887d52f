#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs unit tests in turn and shows cmocka's closing lines of each; the whole output of one that fails.
#   tests/unit.sh [--valgrind SKIPFILE] TEST...
# With --valgrind each runs under memcheck, apart from those that SKIPFILE names ("name  reason").
set -euo pipefail

skip_file=
if [[ ${1-} == --valgrind ]]; then
    skip_file=$2
    shift 2
fi
if (($# == 0)); then
    echo "unit: no tests given" >&2
    exit 1
fi

failed=()
for test in "$@"; do
    name=${test##*/}
    command=("$test")
    if [[ -n $skip_file ]]; then
        if reason=$(grep -E "^${name}[[:space:]]" "$skip_file"); then
            echo "$name: not under valgrind: ${reason#"$name"}" | tr -s ' '
            continue
        fi
        # Children that a test starts are programs of their own (nasm): not followed.
        command=(valgrind -q --error-exitcode=99 --leak-check=full "$test")
    fi
    log=$test.log
    status=0
    timeout 300 "${command[@]}" >"$log" 2>&1 </dev/null || status=$?
    if ((status != 0)); then
        cat "$log"
        echo "$name: FAILED (exit $status)"
        failed+=("$name")
    else
        echo "$name"
        # The closing lines; reasons of skipped tests are worth a line, too.
        grep -E '^\[(=+\] .* run\.|  (PASSED|SKIPPED) +\])|^skip' "$log" || true
    fi
done
if ((${#failed[@]} > 0)); then
    echo "unit: ${#failed[@]} failed: ${failed[*]}"
    exit 1
fi
