# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A core that passes values on at rename in loops of so few loads: what memory holds is there at once whatever else is
# in the round; an address is waited for, in more pairs than it knows. A vector is not passed on so: what goes from a
# general register into one through memory takes the store its cycle.
for known in 12 20 32; do
    sed "s/^forward-latency .*/forward-latency 6\nknown-pairs $known/" tests/data/everything.sim >"$T/core.sim"
    printf 'form "mov m64, r64" ports 1*p78+1*p49 latency 0\nform "mov r64, m64" ports 1*p23 latency 0\n' >>"$T/core.sim"
    isaprobe latency --timer "sim:$T/core.sim" "mov r64, m64" "mov m64, r64" "cmovbe r64, m64" "add r64, m64" \
        "add m64, imm8" "adc m64, r64" "vpaddd xmm, xmm, m128" "vucomisd xmm, m64"
done
