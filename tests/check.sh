#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `make check`: every gate in turn, what each says, and a summary. Goes on after a failure; fails if any gate
# failed. GATES="unit-gcc format" runs only those.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

root=${CHECK_BUILD:-build}
jobs=$(nproc)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$work/summary"
unset MAKEFLAGS MFLAGS MAKEOVERRIDES

# make_with CC MODE TARGET: in that configuration's own directory.
make_with() {
    make --no-print-directory -s -j"$jobs" CC="$1" MODE="$2" BUILD="$root/$1-$2" "${@:3}"
}

unit_with() {
    make_with "$1" "$2" all tests benches && make_with "$1" "$2" unit
}

wanted() {
    [[ -z ${GATES-} || " $GATES " == *" $1 "* ]]
}

# gate NAME COMMAND...
gate() {
    local name=$1 status=0 begin=$SECONDS
    shift
    wanted "$name" || return 0
    echo "=== $name"
    "$@" || status=$?
    local verdict=FAILED
    ((status != 0)) || verdict=ok
    printf '%-7s %-14s %4d s\n' "$verdict" "$name" $((SECONDS - begin)) >>"$work/summary"
}

# gate_of TOOL GATE...: as Debian 12 has it; other versions of clang's tools lay out, and find, other things.
gate_of() {
    if "$1" --version 2>/dev/null | grep -q 'version 14\.'; then
        gate "${@:2}"
    elif wanted "$2"; then
        echo "=== $2: skipped, $1 14 is not installed"
        echo "skipped $2" >>"$work/summary"
    fi
}

gate_of clang-format format make_with gcc release format
gate shell make_with gcc release shell
gate unit-gcc unit_with gcc release
# One thing after the other, on one CPU: beside what is built elsewhere. Shown when all of it is done.
{
    gate layers make_with gcc release layers
    gate clients make_with gcc release client-tests
    gate docs make_with gcc release doc-tests
    gate install make_with gcc release install-test
} >"$work/beside" 2>&1 &
beside=$!
gate unit-clang unit_with clang release
gate unit-asan unit_with gcc asan
gate cli-asan make_with gcc asan cli-tests
wait "$beside" || echo "FAILED  what runs beside" >>"$work/summary"
cat "$work/beside"
gate valgrind make_with gcc release unit-valgrind
gate cli make_with gcc release cli-tests
gate_of clang-tidy tidy make_with gcc release -k tidy
gate fuzz make --no-print-directory -s -j"$jobs" FUZZ_BUILD="$root/clang-fuzz" FUZZ_SECONDS="${FUZZ_SECONDS:-30}" fuzz

echo "=== summary, $SECONDS s"
cat "$work/summary"
if grep -q '^FAILED' "$work/summary"; then
    echo "make check: FAILED"
    exit 1
fi
echo "make check: all $(grep -c '^ok' "$work/summary") gates passed"
