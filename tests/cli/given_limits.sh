# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What --registers and --unroll leave out, and how many registers there are.
for given in -r2 -u4; do
    isaprobe latency --timer sim:tests/data/skl.sim $given "movd xmm, r32" ptest "setz r8" "nop" "mov r64, imm32" "add r64, r64"
    echo "exit $?"
done
for form in "imul r64, r64" "mul r64" "mov m64, r64" "addpd xmm, xmm" "cmp r64, r64"; do
    for n in 1 4 32; do
        isaprobe throughput -q --timer sim:tests/data/skl.sim -r $n --format csv "$form" | sed -n '2{s/"//g;p}' | tr -d '\r' |
            awk -F, -v n=$n '{ print n ":", $0 }' | rounded
    done
done
