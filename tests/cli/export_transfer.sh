# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A format of one latency gets ways between register files that add up to what both take, not two upper bounds.
sed '/^form "movq r64, xmm"/d; /^default/i form "* r*, xmm*" ports 1*p0 latency 3\nform "* xmm, r*" ports 1*p5 latency 4' \
    tests/data/core.sim >"$T/transfer.sim"
isaprobe scan -q -t "sim:$T/transfer.sim" -S "$T/transfer.db" --parts latency,throughput,ports "movd r32, xmm" "movd xmm, r32" \
    "movq r64, xmm" "pinsrq xmm, r64, imm8"
isaprobe show -S "$T/transfer.db" "movd r32, xmm" "movd xmm, r32" | grep latency | cut -d, -f1
isaprobe export -S "$T/transfer.db" --format osaca "movd r32, xmm" "movd xmm, r32" | grep -o ' latency: [0-9][0-9.]*' | sed 's, ,,' | rounded
isaprobe export -S "$T/transfer.db" --format csv "movd r32, xmm" "movd xmm, r32" | grep -o 'op2->op1<=[0-9.]*' | rounded
