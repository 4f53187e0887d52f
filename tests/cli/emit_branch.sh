# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
isaprobe emit --shape branch --unroll 2 "jmp rel32" >"$T/branch.asm" || echo "exit $?"
nasm -w+error -f bin -o "$T/branch.bin" "$T/branch.asm" && head -n 1 "$T/branch.asm"
isaprobe emit --shape branch --not-taken "jz rel8" | head -n 1
