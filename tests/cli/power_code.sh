# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
isaprobe power --machine scc --code tests/data/power/dot.asm --elements 1000000 --bytes-per-iteration 16 --flops-per-iteration 2 | head -n 3
isaprobe power --machine scc --kernel matmul --derive --format csv | sed -n 2p
isaprobe power --quiet --machine scc --kernel dot --cycles 10000 | head -n 2
# The loop is measured where the machine is no table: here on the simulated CPU.
echo "add rax, rbx" >"$T/loop.asm"
isaprobe power --timer sim:tests/data/skl.sim --machine tests/data/power/desktop.machine --code "$T/loop.asm" --elements 1000 --bytes-per-iteration 0 --format csv 2>/dev/null  | cut -d, -f2,7,16
