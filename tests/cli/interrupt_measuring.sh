# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A signal in the middle of a long run: 128 + its number, and no child and no file are left.
yes 480fafc34801c8 | head -n 100000 >"$T/list"
isaprobe measure --timer sim:tests/data/skl.sim --hex-list "$T/list" >"$T/rows" 2>"$T/err" &
sleep 0.5
kill -s TERM $!
wait $!
echo "exit $?"
# One line says how much was done (none, where the signal came before it began).
sed -E 's/[0-9]+ of 100000 blocks/N of 100000 blocks/' "$T/err" | grep -v '^isaprobe: measure: interrupted: N of 100000 blocks were measured$'
wc -l <"$T/err" | grep -v '^[01]$'
# What was measured is kept.
isaprobe scan -q -t sim:tests/data/skl.sim -S "$T/cpu.db" --parts throughput "imul r64, r64" "add r64, r64"
isaprobe validate -q -t sim:tests/data/skl.sim -S "$T/cpu.db" --mca none --keep "$T/kept.csv" "$T/list" >"$T/rows" &
sleep 1
kill -s TERM $!
wait $!
echo "exit $?"
head -n 1 "$T/kept.csv"
