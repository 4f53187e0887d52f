# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What cannot be compared: one clear line and the exit status each.
try() {
    isaprobe compare "$@"
    echo "exit $?"
}
isaprobe scan -q --no-latency -t sim:tests/data/store/exact.sim -S "$T/cpu.db" "cmc"
isaprobe export -S "$T/cpu.db" --format csv -o "$T/cpu.csv"
isaprobe export -S "$T/cpu.db" --format json -o "$T/cpu.json"
try
try "$T/cpu.db"
try "$T/cpu.db" "$T/absent"
try "$T/cpu.db" tests/data/three_jobs.samples
try "$T/cpu.db" "$T"
try --tolerance much "$T/cpu.db" "$T/cpu.db"
: >"$T/empty"
try "$T/empty" "$T/cpu.db"
sed '$s/.*/cmc,x/' "$T/cpu.csv" >"$T/short.csv"
try "$T/cpu.db" "$T/short.csv"
sed '$s/cmc,CMC,/"cmc,"x,CMC,/' "$T/cpu.csv" >"$T/quote.csv" # as many fields, for all that
try "$T/cpu.db" "$T/quote.csv"
sed 's/"status".*//' "$T/cpu.json" >"$T/cut.json"
try "$T/cpu.db" "$T/cut.json"
sed 's/cmc/stc/; s/CMC/STC/' "$T/cpu.csv" >"$T/other.csv"
try "$T/cpu.db" "$T/other.csv"
truncate -s 300M "$T/large"
try "$T/cpu.db" "$T/large"
printf 'instruction,what\nADD,1\n' >"$T/u.csv"
try "$T/cpu.db" "$T/u.csv"
row() { printf 'instruction,throughput_measured,slots,latency\nCMC,-,,-\nCMC,%s\n' "$1" >"$T/u.csv"; }
row '1;00,1,1'
try "$T/cpu.db" "$T/u.csv"
row '1.00,one,1'
try "$T/cpu.db" "$T/u.csv"
row '1.00,1,1x'
try "$T/cpu.db" "$T/u.csv"
head -c 5000 "$T/cpu.db" >"$T/cut.db"
isaprobe compare "$T/cut.db" "$T/cpu.db" 2>"$T/err"
echo "exit $?, $(wc -l <"$T/err") line"
isaprobe compare -q --by-class "$T/cpu.db" "$T/cpu.csv" >/dev/full
echo "exit $?"
