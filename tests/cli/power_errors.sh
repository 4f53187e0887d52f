# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
try() {
    isaprobe power "$@"
    echo "exit $?"
}
try
try --machine scc
try --machine scc --kernel fft
try --machine sccc --kernel dot
try --machine scc --kernel dot --code x
try --machine scc --kernel dot --max-slowdown 0.5
try --machine scc --kernel dot --max-slowdown two
try --machine scc --kernel dot --max-time 0.001
try --machine scc --kernel dot --measured "$T/absent"
try --machine scc --kernel dot --plot time --measured "$T/absent"
try --machine scc --kernel dot --bytes-per-iteration 8
try --machine scc --code x --elements 5
try --machine tests/data/power/desktop.machine --kernel dot --hops 1
try --machine tests/data/power/triad.kernel --kernel dot
echo cpuid >"$T/loop.asm"
try --machine scc --code "$T/loop.asm" --elements 5 --bytes-per-iteration 8
printf "fld qword [esi]\nfrobnicate eax\n" >"$T/loop.asm"
try --machine scc --code "$T/loop.asm" --elements 5 --bytes-per-iteration 8
printf "kernel k\nsize 4\niterations size\ncode\n    nop\n    frobnicate eax\nend\n" >"$T/k"
try --machine scc --kernel "$T/k"
try --machine host --root tests/data/power/vm --kernel dot
try --machine host --root tests/data/power/rpi4 --kernel dot
try --machine host --root tests/data/power/rpi4 --kernel dot --memory-ns 100
try --calibrate --machine scc
try --calibrate --root tests/data/power/rpi4
