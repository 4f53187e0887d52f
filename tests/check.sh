#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `make check`: every gate in turn, what each says, and a summary. Goes on after a failure; fails if any gate
# failed. GATES="unit-gcc format" runs only those.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

root=${CHECK_BUILD:-build}
jobs=$(nproc)
summary=()
passed=0
failed=0
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
    local line
    printf -v line '%-14s %4d s' "$name" $((SECONDS - begin))
    if ((status == 0)); then
        summary+=("ok      $line")
        passed=$((passed + 1))
    else
        summary+=("FAILED  $line")
        failed=1
    fi
}

# gate_of TOOL GATE...: as Debian 12 has it; other versions of clang's tools lay out, and find, other things.
gate_of() {
    if "$1" --version 2>/dev/null | grep -q 'version 14\.'; then
        gate "${@:2}"
    elif wanted "$2"; then
        echo "=== $2: skipped, $1 14 is not installed"
        summary+=("skipped $2")
    fi
}

gate_of clang-format format make_with gcc release format
gate shell make_with gcc release shell
gate unit-gcc unit_with gcc release
gate layers make_with gcc release layers
gate unit-clang unit_with clang release
gate unit-asan unit_with gcc asan
gate valgrind make_with gcc release unit-valgrind
gate cli make_with gcc release cli-tests
gate cli-asan make_with gcc asan cli-tests
gate clients make_with gcc release client-tests
gate docs make_with gcc release doc-tests
gate install make_with gcc release install-test
gate_of clang-tidy tidy make_with gcc release -k tidy
gate fuzz make --no-print-directory -s -j"$jobs" FUZZ_BUILD="$root/clang-fuzz" FUZZ_SECONDS="${FUZZ_SECONDS:-30}" fuzz

echo "=== summary, $SECONDS s"
printf '%s\n' "${summary[@]}"
if ((failed)); then
    echo "make check: FAILED"
    exit 1
fi
echo "make check: all $passed gates passed"
