# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
isaprobe power --machine scc --code tests/data/power/dot.asm --elements 1000000 --bytes-per-iteration 16 --flops-per-iteration 2 | head -n 3
isaprobe power --machine scc --kernel matmul --derive --format csv | sed -n 2p
isaprobe power --quiet --machine scc --kernel dot --cycles 10000 | head -n 2
# The loop is measured where the machine is no table: here on the simulated CPU.
echo "add rax, rbx" >"$T/loop.asm"
isaprobe power --timer sim:tests/data/skl.sim --machine tests/data/power/desktop.machine --code "$T/loop.asm" --elements 1000 --bytes-per-iteration 0 --format csv 2>/dev/null  | cut -d, -f2,7,16
# A machine that is another CPU than the one that would measure.
{ cat tests/data/power/desktop.machine; echo "cpu Imaginary family 6"; } >"$T/other.machine"
isaprobe power --timer sim:tests/data/skl.sim --machine "$T/other.machine" --code "$T/loop.asm" --elements 1000 --bytes-per-iteration 0
echo "exit $?"
isaprobe power --timer sim:tests/data/skl.sim --machine "$T/other.machine" --code "$T/loop.asm" --elements 1000 --bytes-per-iteration 0 --cycles 2 --format csv | sed -n 2p | cut -d, -f2,6
sed "s/Imaginary family 6/$(isaprobe scan -q -t sim:tests/data/skl.sim -S "$T/cpu.db" --no-latency "imul r64, r64" && sqlite3 "$T/cpu.db" "SELECT identity FROM machine")/" "$T/other.machine" >"$T/same.machine"
isaprobe power --timer sim:tests/data/skl.sim --machine "$T/same.machine" --code "$T/loop.asm" --elements 1000 --bytes-per-iteration 0 --format csv | sed -n 2p | cut -d, -f2
# The whole way by tables: latency, slots and ports from a store, no measurement.
echo "imul rax, rbx" >"$T/imul.asm"
isaprobe scan -q --parts latency,throughput,slots,ports -t sim:tests/data/everything.sim -S "$T/every.db" "imul r64, r64"
isaprobe power --machine tests/data/power/desktop.machine --store "$T/every.db" --code "$T/imul.asm" --elements 1000 --bytes-per-iteration 0 --format csv | sed -n 2p | cut -d, -f2,6 | sed 's/\(,[0-9]*\)\..*/\1/'
echo "add rax, rbx" >"$T/add.asm"
isaprobe power -q --machine tests/data/power/desktop.machine --store "$T/every.db" --code "$T/add.asm" --elements 1000 --bytes-per-iteration 0
echo "exit $?"
isaprobe power -q --machine "$T/other.machine" --store "$T/every.db" --code "$T/imul.asm" --elements 1000 --bytes-per-iteration 0
echo "exit $?"
isaprobe power -q --machine tests/data/power/desktop.machine --store "$T/absent.db" --code "$T/imul.asm" --elements 1000 --bytes-per-iteration 0
echo "exit $?"
# The code is the body of a loop, whose branch may stand there or not, for each source of cycles.
loop_cycles() { # FILE ARGUMENT...
    isaprobe power --code "$@" --elements 1000 --bytes-per-iteration 8 2>&1 | grep -e "cycles per iteration" -e "inner loop"
}
printf 'machine m\naccess 80 ns\nsetting 1 GHz 1 V\ncapacitance 1 nF\n' >"$T/m"
printf 'add rax, 1\nadd rbx, 1\nadd rdx, 1\nadd rsi, 1\n' >"$T/four.asm"
head -n 3 tests/data/power/sum.asm >"$T/sum_open.asm"
for file in "$T/four.asm" tests/data/power/sum.asm "$T/sum_open.asm"; do
    loop_cycles "$file" --machine "$T/m" --timer sim:tests/data/skl.sim
done
printf 'add eax, 1\nadd ebx, 1\n' >"$T/two.asm"
printf 'add eax, 1\nadd ebx, 1\ndec ecx\njnz $$\n' >"$T/two_closed.asm"
for file in "$T/two.asm" "$T/two_closed.asm"; do
    loop_cycles "$file" --machine scc
done
# How often an inner loop runs is not known.
printf 'x: dec edx\njnz x\ndec ecx\njnz $$\n' >"$T/inner.asm"
loop_cycles "$T/inner.asm" --machine scc
printf 'imul rax, rbx\nx: imul rdx, rbx\njnz x\n' >"$T/inner64.asm"
loop_cycles "$T/inner64.asm" --machine "$T/m" --store "$T/every.db"
