#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the command-line cases, from the root of the project.
#   tests/cli/run.sh PROGRAM [NAME...]
# A case is NAME.sh, run by bash with `isaprobe` on PATH and an empty directory in $T; NAME.out and NAME.err are
# what it prints (nothing where there is no file), NAME.rc its exit status (0). $T is shown as @T@. A case that this
# system lacks something for prints what, exits with 77, and is skipped. After each case no process and no temporary
# file may be left. The store of this CPU is a case's own, not the user's: what is measured beside other tests is of
# no use to anybody. UPDATE=1 writes the expectations instead: read the diff.
set -uo pipefail

here=$(dirname "${BASH_SOURCE[0]}")
program=${1-}
if [[ ! -x $program || -d $program ]]; then
    echo "usage: tests/cli/run.sh PROGRAM [NAME...]: '$program' is no program" >&2
    exit 2
fi
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$program" "$work/bin/isaprobe"
# rounded: numbers with four decimals to one, so that a case does not hang on the last digit of a simulation.
printf '#!/bin/sh\nexec perl -pe '\''s/\\d+\\.\\d{4}\\b/sprintf("%%.1f", $&)/ge'\''\n' >"$work/bin/rounded"
chmod +x "$work/bin/rounded"
export PATH=$work/bin:$PATH LC_ALL=C TERM=dumb
unset NO_COLOR ISAPROBE_NASM

# complain TEXT: to the log of the case in hand.
complain() {
    echo "cli: $name: $1"
    bad=1
}

# expect NAME.KIND FILE: what came is what was expected.
expect() {
    local wanted=$here/$1 got=$2
    sed -i "s#$T#@T@#g" "$got"
    if [[ -n ${UPDATE-} ]]; then
        if [[ -s $got ]]; then cp "$got" "$wanted"; else rm -f "$wanted"; fi
        return
    fi
    [[ -e $wanted ]] || wanted=/dev/null
    diff -u --label "$1 (expected)" --label "$1 (got)" "$wanted" "$got" || complain "$1 differs"
}

# run_case NAME: 0 if it passes; says what differs.
run_case() {
    local name=$1 bad=0 status running left
    export T=$work/$name TMPDIR=$work/$name.tmp XDG_DATA_HOME=$work/$name.data
    mkdir "$T" "$TMPDIR"
    # A session of its own, so that what it leaves behind is found. The limit is for what hangs: beside busy
    # neighbours the manual's examples wait for a minute and more.
    # shellcheck disable=SC2016
    timeout 900 setsid --wait bash -c 'echo $$ >"$0.session"; . "$1"' "$work/$name" "$here/$name.sh" \
        >"$work/$name.out" 2>"$work/$name.err" </dev/null
    status=$?
    if ((status == 77)); then
        echo "cli: $name: skipped: $(cat "$work/$name.out")"
        return
    fi
    expect "$name.out" "$work/$name.out"
    expect "$name.err" "$work/$name.err"
    if ((status != 0)); then echo "$status"; fi >"$work/$name.rc"
    expect "$name.rc" "$work/$name.rc"
    # A process that has ended and only waits for init is not left behind: pgrep does not tell.
    # shellcheck disable=SC2009
    running=$(ps -o stat=,args= -s "$(cat "$work/$name.session")" | grep -v '^Z')
    [[ -z $running ]] || complain "left a process behind: $running"
    left=$(ls -A "$TMPDIR")
    [[ -z $left ]] || complain "left temporary files behind: $left"
    return "$bad"
}

if (($# > 0)); then
    cases=("$@")
else
    # The longest first: none of them is to run alone at the end.
    cases=(scan_killed man_examples predict_wide power_calibrate scan_wavering core measure_endless predict portmap_unconfirmed)
    for path in "$here"/*.sh; do
        name=${path##*/}
        name=${name%.sh}
        [[ $name == run || " ${cases[*]} " == *" $name "* ]] || cases+=("$name")
    done
fi

# As many at a time as there are CPUs; what they say is shown in order.
for name in "${cases[@]}"; do
    while (($(jobs -pr | wc -l) >= $(nproc))); do wait -n; done
    { run_case "$name" && touch "$work/$name.passed"; } >"$work/$name.log" 2>&1 &
done
wait
failed=()
for name in "${cases[@]}"; do
    cat "$work/$name.log"
    [[ -e $work/$name.passed ]] || failed+=("$name")
done

if ((${#failed[@]} > 0)); then
    echo "cli: ${#failed[@]} of ${#cases[@]} cases failed: ${failed[*]}"
    exit 1
fi
echo "cli: ${#cases[@]} cases passed"
