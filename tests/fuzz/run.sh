#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs libFuzzer programs, SECONDS in all, two at a time. Each begins with its kept corpus,
# tests/fuzz/corpus/NAME (without "fuzz_"), which is run whole first and never written to: new inputs go to a
# directory beside the program. A crashing input is kept there too, and its path is printed.
#   tests/fuzz/run.sh SECONDS PROGRAM...
# To keep what was found: clang's -merge=1, see tests/README.md.
set -euo pipefail

seconds=$1
shift
if (($# == 0)); then
    echo "fuzz: no fuzzers"
    exit 0
fi
width=2
each=$((seconds * width / $#))
((each >= 2)) || each=2

run_one() {
    local program=$1 name=${1##*/fuzz_} here=$1.found status=0
    mkdir -p "$here"
    local corpus=("$here")
    [[ -d tests/fuzz/corpus/$name ]] && corpus+=("tests/fuzz/corpus/$name")
    local dictionary=()
    [[ -e tests/fuzz/$name.dict ]] && dictionary=("-dict=tests/fuzz/$name.dict")
    "$program" -max_total_time="$each" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=1 \
        -artifact_prefix="$program.crash-" "${dictionary[@]}" "${corpus[@]}" >"$program.log" 2>&1 || status=$?
    if ((status != 0)); then
        tail -n 40 "$program.log"
        echo "fuzz: $name FAILED; the input is at $program.crash-*"
        return 1
    fi
    echo "fuzz: $name: $(sed -n 's/^stat::number_of_executed_units: //p' "$program.log") inputs in $each s, none bad"
}

failed=0
while (($# > 0)); do
    children=()
    for program in "${@:1:width}"; do
        run_one "$program" &
        children+=($!)
    done
    for child in "${children[@]}"; do
        wait "$child" || failed=1
    done
    shift "$(($# < width ? $# : width))"
done
exit "$failed"
