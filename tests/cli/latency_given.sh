# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Both register allocators of the thesis: always the same one, and several in turn.
for n in 1 2 8; do
    isaprobe latency --timer sim:tests/data/skl.sim --registers $n --unroll 4 "addpd xmm, xmm" "mov r64, m64"
done
