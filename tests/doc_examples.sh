#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the examples of the documentation, from the root of the project.
#   tests/doc_examples.sh PROGRAM FILE...
# A fenced block "```console" holds commands ("$ isaprobe ...") and what they print. The line before it says what
# to do with it:
#   <!-- tested -->   run, and compare stdout and stderr, as one text, with what is printed there
#   <!-- runs -->     run, and look only at the exit status: 0, or 3 and 4 where this machine cannot, or is busy
#   neither           a sample of one machine: only the name of the subcommand must exist
set -euo pipefail

program=$1
shift
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
ln -s "$program" "$bin/isaprobe"
export PATH=$bin:$PATH NO_COLOR=1 LC_ALL=C

bad=0 tested=0 ran=0 seen=0
commands=$(isaprobe --help | sed -n -E 's/^  ([a-z]+)( .*)?$/\1/p')

# finish: the command is complete and `expected` holds what stands below it.
finish() {
    [[ -n $command ]] || return 0
    local name status=0 got
    case $kind in
    tested)
        tested=$((tested + 1))
        got=$(bash -c "$command" 2>&1 </dev/null) || status=$?
        if [[ $got != "${expected%$'\n'}" ]]; then
            echo "$place: \$ $command (exit $status) prints something else:"
            diff <(echo "${expected%$'\n'}") <(echo "$got") | sed 's/^/    /' || true
            bad=1
        fi
        ;;
    runs)
        ran=$((ran + 1))
        got=$(bash -c "$command" 2>&1 </dev/null) || status=$?
        if ((status != 0 && status != 3 && status != 4)); then
            echo "$place: \$ $command: exit $status: $got"
            bad=1
        fi
        ;;
    esac
    if [[ $command =~ ^isaprobe\ ([a-z]+) ]]; then
        seen=$((seen + 1))
        name=${BASH_REMATCH[1]}
        if ! grep -qx "$name" <<<"$commands"; then
            echo "$place: \$ $command: no such subcommand: $name"
            bad=1
        fi
    fi
    command=
}

for file in "$@"; do
    number=0 inside=0 mark='' kind='' command='' expected='' place=''
    while IFS= read -r line; do
        number=$((number + 1))
        if ((inside)); then
            if [[ $line == '```' ]]; then
                finish
                inside=0 mark=''
            elif [[ $line == '$ '* ]]; then
                finish
                command=${line#\$ } expected='' place=$file:$number
            else
                expected+=$line$'\n'
            fi
        elif [[ $line == '```console' ]]; then
            inside=1 kind=$mark command=''
        elif [[ $line == '<!-- tested -->' ]]; then
            mark=tested
        elif [[ $line == '<!-- runs -->' ]]; then
            mark=runs
        elif [[ -n $line ]]; then
            mark=''
        fi
    done <"$file"
    if ((inside)); then
        echo "$file: a console block does not end"
        bad=1
    fi
done
echo "docs: $tested examples compared, $ran run, $seen commands named"
exit "$bad"
