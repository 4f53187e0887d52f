# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Whatever measures beside what it reads refuses the store of another CPU; what only reads takes any.
this=sim:tests/data/skl.sim
store=$T/other.db
{
    cat tests/data/skl.sim
    echo 'form "cmc" ports 1*p06 latency 2'
} >"$T/other.sim"
isaprobe scan -q -t "sim:$T/other.sim" -S "$store" --parts throughput,ports "imul r64, r64" "add r64, r64"
echo 480fafc3 >"$T/blocks"
attempt() {
    isaprobe "$@" 2>&1 | sed -E 's/\b[0-9a-f]{16}\b/HASH/g'
    echo "exit ${PIPESTATUS[0]}: $1"
}
attempt ports -t $this -S "$store" "imul r64, r64"
attempt ports -q -t "sim:$T/other.sim" -S "$store" "imul r64, r64"
attempt core -t $this -S "$store" --only issue
attempt scan -t $this -S "$store" cmc
attempt validate -t $this -S "$store" --mca none "$T/blocks"
isaprobe validate -q -t "sim:$T/other.sim" -S "$store" --mca none --keep "$T/kept" "$T/blocks" >"$T/rows"
echo "exit $?"
isaprobe validate -q -t $this -S "$store" --mca none --measured "$T/kept" "$T/blocks" >"$T/rows"
echo "exit $?"
isaprobe validate -q -t $this -S "$store" --mca none --no-measure "$T/blocks" >"$T/rows"
echo "exit $?"
isaprobe show -S "$store" "imul r64, r64" | head -n 1
