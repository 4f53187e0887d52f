# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The manual's examples run: exit 0, or 3 and 4 where this machine cannot, or is busy.
# shellcheck disable=SC2016 # backquotes are meant
sed -n '/^# EXAMPLES/,$p' docs/isaprobe.1.scd | sed -n '/^```/,/^```/{/^```/d;p}' >"$T/examples"
while IFS= read -r line; do
    bash -c "$line" >"$T/out" 2>"$T/err" </dev/null
    code=$?
    case $code in
    0 | 3 | 4) [ $code -ne 0 ] || [ -s "$T/out" ] || echo "silent: $line" ;;
    *)
        echo "exit $code: $line"
        cat "$T/err"
        ;;
    esac
done <"$T/examples"
wc -l <"$T/examples"
