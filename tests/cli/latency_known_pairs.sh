# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A core that passes values on at rename in loops of so few loads: what memory holds is there at once whatever else is
# in the round; an address is waited for, in more pairs than it knows.
for known in 12 20 32; do
    sed "s/^forward-latency .*/&\nknown-pairs $known/" tests/data/everything.sim >"$T/core.sim"
    isaprobe latency --timer "sim:$T/core.sim" "mov r64, m64" "mov m64, r64" "cmovbe r64, m64" "add r64, m64" \
        "add m64, imm8" "adc m64, r64" "vpaddd xmm, xmm, m128"
done
