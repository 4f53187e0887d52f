# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What export cannot do: one clear line and the exit status each.
try() {
    isaprobe export "$@"
    echo "exit $?"
}
isaprobe scan -q --no-latency -t sim:tests/data/store/exact.sim -S "$T/cpu.db" "cmc"
try --format excel -S "$T/cpu.db"
try --arch 'a: b' -S "$T/cpu.db"
try -S "$T/cpu.db" "imul r64, r64"
try -S "$T/absent.db"
echo "not a database" >"$T/text.db"
try -S "$T/text.db"
cp "$T/cpu.db" "$T/newer.db"
sqlite3 "$T/newer.db" "PRAGMA user_version = 99"
try -S "$T/newer.db"
cp "$T/cpu.db" "$T/empty.db"
sqlite3 "$T/empty.db" "DELETE FROM forms"
try -S "$T/empty.db"
head -c 6000 "$T/cpu.db" >"$T/cut.db"
isaprobe export -S "$T/cut.db" >"$T/out" 2>"$T/err"
echo "exit $?, $(wc -l <"$T/err") line, $(wc -c <"$T/out") bytes"
ISAPROBE_LLVM_MC=$T/absent try --format llvm-exegesis -S "$T/cpu.db"
ISAPROBE_LLVM_MC=$T/absent try --format llvm-sched-json -S "$T/cpu.db"
ISAPROBE_LLVM_MC=true try --format llvm-sched-json -S "$T/cpu.db"
ISAPROBE_NASM=$T/absent try --format csv -S "$T/cpu.db"
isaprobe export -S "$T/cpu.db" --format csv >/dev/full
echo "exit $?"
try -S "$T/cpu.db" --format csv -o /dev/full
isaprobe export -S "$T/cpu.db" --format csv >&-
echo "exit $?"
try -S "$T/cpu.db" --format csv -o "$T/no/such/file"
