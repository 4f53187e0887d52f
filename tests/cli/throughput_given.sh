# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Putigny's Table 2.3: one register is a dependent chain; as many as latency over throughput hide it.
given() {
    isaprobe throughput --timer sim:tests/data/skl.sim "$@" --format csv "addpd xmm, xmm" | tail -n 1 | tr -d '\r' | rounded
}
for n in 1 2 4 8; do
    given --registers $n
done
given --registers 8 --unroll 16
isaprobe throughput --timer sim:tests/data/skl.sim --unroll 4 --format csv "call rel32" 2>/dev/null | tail -n 1 | tr -d '\r'
