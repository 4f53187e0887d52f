# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Every format of a store, rounded to one decimal: tests/test_results_export.c looks at those.
isaprobe scan -q --parts latency,throughput,slots,ports -t sim:tests/data/everything.sim -S "$T/cpu.db" \
    "imul r64, r64" "shl r64, imm8" "vpermd ymm, ymm, ymm" "cmc" "cld"
shape() { perl -pe 's/content [0-9a-f]+/content H/; s/\d+\.\d+/sprintf("%.1f", $&) =~ s!\.0$!!r/ge'; }
for format in osaca maqao-lua csv json; do
    echo "== $format"
    isaprobe export -S "$T/cpu.db" --format $format | sed -n '/^local function/,$d; p' | tr -d '\r' | shape
done
echo "== uopsinfo-xml"
isaprobe export -S "$T/cpu.db" --arch SKL "imul r64, r64" cmc cld | shape
echo "== a file, one form"
isaprobe export -S "$T/cpu.db" --format csv -o "$T/out.csv" IMUL && wc -l <"$T/out.csv"
echo "== a form that is named twice"
for format in csv osaca; do
    isaprobe export -S "$T/cpu.db" --format $format imul "imul r64, r64" "imul r64*" | grep -c imul
done
echo "== a unit that is busy longer than the ports, and sizes of the core"
isaprobe scan -q --parts ports -t sim:tests/data/skl.sim -S "$T/unit.db" "sqrtpd xmm, xmm"
sqlite3 "$T/unit.db" "CREATE TABLE IF NOT EXISTS core(key TEXT PRIMARY KEY, value REAL, spread REAL, how TEXT NOT NULL,
    run_id INTEGER NOT NULL) WITHOUT ROWID; INSERT INTO core VALUES('rob_slots', 445, 0, '', 1), ('scheduler_uops', 101, 0, '', 1)"
isaprobe export -S "$T/unit.db" --format osaca | shape | grep -o -E '^ports: .*|^.*_size: .*|port_pressure: \[\[.*'
isaprobe export -S "$T/unit.db" | shape | grep -o 'div_cycles.*'
echo "== without ports"
isaprobe scan -q -t sim:tests/data/everything.sim -S "$T/no_ports.db" "imul r64, r64" cmc
isaprobe export -S "$T/no_ports.db" --format osaca
echo "exit $?"
