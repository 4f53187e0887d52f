# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
isaprobe ports --timer sim:tests/data/skl.sim "vdpps xmm, xmm, xmm, imm8" "vcvttsd2si r64, xmm" "imul r64, r64" "mov m64, r64"
isaprobe ports --timer sim:tests/data/skl.sim --format json "mulx r64, r64, r64" | rounded
# No truth to be had: ud2 faults.
isaprobe ports --quiet --timer sim:tests/data/skl.sim "ud2"
echo "exit $?"
# A CPU that counts the uops of its ports: a second opinion.
sed '/^seed/a port-counters' tests/data/skl.sim >"$T/counted.sim"
isaprobe ports --quiet --timer "sim:$T/counted.sim" "imul r64, r64" "mov m64, r64"
isaprobe ports --quiet --timer "sim:$T/counted.sim" --format csv "imul r64, r64" | rounded
isaprobe doctor --timer "sim:$T/counted.sim" --format csv | grep "^port counters"
isaprobe doctor --timer sim:tests/data/skl.sim --format csv | grep "^port counters"
# Two units: of the dividers of vectors and of integers.
isaprobe ports --quiet --timer sim:tests/data/skl.sim --format csv "divpd xmm, xmm" "sqrtpd xmm, xmm" "div r64" "imul r64, r64" | rounded | cut -d, -f 1-3,6- | cut -c 1-150
echo "exit $?"
# What is no matter of ports.
isaprobe ports --quiet --timer sim:tests/data/skl.sim "mov r64, r64" "pxor xmm, xmm" "paddd xmm, xmm" "add r64, m64" "cmp r64, r64" "or r64, r64" | sed "s/   [0-9].* 0.0[0-9] / ... /"
isaprobe ports --quiet --timer sim:tests/data/skl.sim --format csv "mov r64, r64" "pxor xmm, xmm" "paddd xmm, xmm" "sub r64, r64" | cut -d, -f 1-3,11-
