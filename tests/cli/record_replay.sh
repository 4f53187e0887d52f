# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What was recorded gives the same rows again.
isaprobe latency --timer sim:tests/data/skl.sim --record "$T/samples" "addpd xmm, xmm" >"$T/first"
isaprobe latency --timer "replay:$T/samples" "addpd xmm, xmm" | diff "$T/first" - && echo same
# On this machine, too, whatever happens on it; nothing to compare where it cannot measure.
isaprobe throughput -q --record "$T/here" "add r64, r64" "vaddpd ymm, ymm, ymm" >"$T/first" 2>"$T/err"
code=$?
if [ $code -ne 3 ]; then
    isaprobe throughput -q --timer "replay:$T/here" "add r64, r64" "vaddpd ymm, ymm, ymm" >"$T/again"
    [ $? -eq $code ] || echo "another exit status"
    diff "$T/first" "$T/again"
fi
isaprobe latency --timer sim:tests/data/skl.sim --record - "addpd xmm, xmm"
echo "exit $?"
isaprobe latency --timer sim:tests/data/skl.sim --record "$T/absent/samples" "addpd xmm, xmm"
echo "--- a recording of another command"
isaprobe latency -t sim:tests/data/skl.sim --record "$T/latency" "add r64, r64" >/dev/null
isaprobe portmap -t "replay:$T/latency"
echo "exit $?"
isaprobe scan -q -t "replay:$T/latency" -S "$T/replay.db" "imul r64, r64"
echo "exit $?"
isaprobe show -S "$T/replay.db" "imul r64, r64"
echo "--- a recorded scan"
isaprobe scan -q -t sim:tests/data/skl.sim --record "$T/scan" -S "$T/first.db" "add r64, r64" "imul r64, r64"
isaprobe scan -q -t "replay:$T/scan" -S "$T/again.db" "add r64, r64" "imul r64, r64"
isaprobe compare "$T/first.db" "$T/again.db"
echo "--- beside a store"
isaprobe core -q -t sim:tests/data/skl.sim --record "$T/core" -S "$T/first.db" --only idiom >"$T/rows"
isaprobe core -q -t "replay:$T/core" -S "$T/first.db" --only idiom | diff "$T/rows" - && echo same
isaprobe core -q -t sim:tests/data/core.sim --record "$T/other" --no-store --only issue_width >"$T/rows"
isaprobe core -q -t "replay:$T/other" -S "$T/first.db" --only issue_width 2>"$T/err"
echo "exit $?"
sed "s#$T#@T@#; s/content [0-9a-f]*/content N/g" "$T/err"
