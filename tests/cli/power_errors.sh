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
printf "fld qword [esi]\nadd eax\n" >"$T/loop.asm"
try --machine scc --code "$T/loop.asm" --elements 5 --bytes-per-iteration 8
printf "kernel k\nsize 4\niterations size\ncode\n    nop\n    add eax\nend\n" >"$T/k"
try --machine scc --kernel "$T/k"
printf "kernel k\nsize 1e200\niterations size\nbody 1e150 cycles\n" >"$T/k"
try --machine scc --kernel "$T/k" --metric time
try --machine scc --kernel "$T/k" --cycles 1
printf "kernel k\nsize 8\niterations size\nbody 1 cycles\n" >"$T/k"
try --machine scc --kernel "$T/k" --metric gflops-per-watt
try --machine scc --kernel "$T/k" --cycles 0
try --machine host --root tests/data/power/vm --kernel dot
try --machine host --root tests/data/power/rk3399 --kernel dot
try --machine host --root tests/data/power/rk3399 --kernel dot --memory-ns 100
try --calibrate --machine scc
try --calibrate --kernel dot
try --machine scc --kernel dot --plot time --format csv
try --machine scc --describe --format json
try --machine scc --kernel dot --hops 2.5
try --machine scc --kernel dot --elements 1e30
try --machine scc --kernel dot --max-power 1e-9
try --machine scc --kernel dot --store "$T/absent" --derive
try --machine "$T" --kernel dot
try --machine scc --kernel "$T"
try --machine scc --code "$T" --elements 1 --bytes-per-iteration 8
printf "machine m\0\nsetting 2 GHz 1 V\n" >"$T/nul"
try --machine "$T/nul" --kernel dot
try --machine scc --kernel "$T/nul"
try --machine scc --kernel dot --measured "$T/nul"
try --machine scc --code "$T/nul" --elements 1 --bytes-per-iteration 8
isaprobe power --machine scc --kernel dot >/dev/full
echo "exit $?"
isaprobe power --machine scc --kernel dot >&-
echo "exit $?"
try --machine scc --kernel dot --plot time --output "$T/absent/x"
# A machine's file: each mistake is one line.
machine() {
    printf "machine m\n%b" "$1" | isaprobe power --machine - --kernel dot
}
machine "reference 1600 MHz\nsetting div 2 1.1 V\nsetting div 4 0.7 V\n"
machine "setting 2 GHz -1 V\n"
machine "setting 1 GHz 1 V\nsetting 2 GHz 1 V\n"
machine "setting 2000 1 V\n"
machine "reference 1600 MHz\nsetting div 2 1.1 V\nmeasured div 7 3 W\n"
machine "setting 1e400 GHz 1 V\n"
# Watts that fall where V^2*f rises.
machine "access 80 ns\nsetting 2 GHz 1.1 V\nsetting 1 GHz 0.9 V\nmeasured 2 GHz 4 W\nmeasured 1 GHz 5 W\n" | head -n 1
try --calibrate --root tests/data/power/rk3399
# Cycles from elsewhere: nothing to look up in a store, no samples to keep.
try --machine scc --kernel dot --record "$T/samples"
try --machine scc --kernel dot --derive --record "$T/samples"
try --machine scc --kernel dot --store "$T/absent"
try --machine scc --kernel dot --derive --cycles 3 --store "$T/absent"
try --machine scc --describe --store "$T/absent"
try --calibrate --root tests/data/power/rk3399 --record "$T/samples"
printf 'add rax, rbx\n' >"$T/loop.asm"
try --machine scc --code "$T/loop.asm" --elements 5 --bytes-per-iteration 8 --cycles 1 --record "$T/samples"
machine "capacitance 3 nF\nsetting 2 GHz\nmeasured 2 GHz 20 W\n"
machine "setting 2 GHz 1 V\nsetting 1 GHz 0.8 V\nmeasured 1 GHz 4 W\n"
