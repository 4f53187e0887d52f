#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs unit tests, one more at a time than there are CPUs (some wait), and shows cmocka's closing lines of each; the
# whole output of one that fails.
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

# What is not to run is said first.
tests=()
for test in "$@"; do
    name=${test##*/}
    if [[ -n $skip_file ]] && reason=$(grep -E "^${name}[[:space:]]" "$skip_file"); then
        echo "$name: not under valgrind: ${reason#"$name"}" | tr -s ' '
    else
        tests+=("$test")
    fi
done

# Children that a test starts are programs of their own (nasm): valgrind does not follow them.
checker=()
if [[ -n $skip_file ]]; then
    checker=(valgrind -q --error-exitcode=99 --leak-check=full --suppressions=tests/valgrind.supp)
    export ISAPROBE_TEST_BRIEF=1 # tests/brief.h
fi
# The longest first: none of them is to run alone at the end.
long=(test_probe_core test_probe_core_noise test_results_export test_probe_proof test_isa_assemble test_probe_portmap
    test_probe_usage test_probe_pair test_probe_adversaries test_probe_slots test_harness_worker)
ordered() {
    local test name
    for name in "${long[@]}"; do
        for test in "${tests[@]}"; do
            [[ ${test##*/} != "$name" ]] || printf '%s\0' "$test"
        done
    done
    for test in "${tests[@]}"; do
        [[ " ${long[*]} " == *" ${test##*/} "* ]] || printf '%s\0' "$test"
    done
}
# The status is kept in a file: xargs tells only whether any failed.
# shellcheck disable=SC2016
ordered | xargs -0 -P $(($(nproc) + 1)) -I{} bash -c '
    status=0
    timeout 300 "${@:2}" "$1" >"$1.log" 2>&1 </dev/null || status=$?
    echo "$status" >"$1.status"' unit {} "${checker[@]}"

failed=()
for test in "${tests[@]}"; do
    name=${test##*/}
    status=$(<"$test.status")
    if ((status != 0)); then
        cat "$test.log"
        echo "$name: FAILED (exit $status)"
        failed+=("$name")
    else
        echo "$name"
        # The closing lines; reasons of skipped tests are worth a line, too.
        grep -E '^\[(=+\] .* run\.|  (PASSED|SKIPPED) +\])|^skip' "$test.log" || true
    fi
done
if ((${#failed[@]} > 0)); then
    echo "unit: ${#failed[@]} failed: ${failed[*]}"
    exit 1
fi
