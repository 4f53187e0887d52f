# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# On any machine: it ends with 0 or 3, each check has a state, and the recording reads back.
isaprobe doctor --save "$T/tree" --format json >"$T/rows" 2>"$T/err"
code=$?
case $code in
0) ;;
3) [ "$(wc -l <"$T/err")" -eq 1 ] || cat "$T/err" ;;
*) echo "exit $code"; cat "$T/err" ;;
esac
grep -c '"check": "\(cpu\|tsc\|nasm\|timer tsc\|timer papi\|timer sim\|timer replay\)"' "$T/rows"
grep -v '"state": "\(ok\|degraded\|missing\)"' "$T/rows"
isaprobe doctor --root "$T/tree" --format json >"$T/again"
head -n 5 "$T/rows" | cmp - <(head -n 5 "$T/again")
