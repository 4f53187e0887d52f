# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What is printed assembles.
for shape in latency throughput; do
    isaprobe emit --shape $shape "addpd xmm, xmm" >"$T/$shape.asm" || echo "exit $?"
    nasm -w+error -f bin -o "$T/$shape.bin" "$T/$shape.asm" && head -n 1 "$T/$shape.asm"
done
isaprobe emit --shape pair --with "imul r64, r64" "addpd xmm, xmm" >"$T/pair.asm" || echo "exit $?"
nasm -w+error -f bin -o "$T/pair.bin" "$T/pair.asm" && head -n 1 "$T/pair.asm"
isaprobe emit --shape block "imul rax, rbx; add rax, rcx" >"$T/block.asm" || echo "exit $?"
nasm -w+error -f bin -o "$T/block.bin" "$T/block.asm" && head -n 1 "$T/block.asm"
isaprobe emit --src op2 --dst op1 --unroll 3 "addpd xmm, xmm" | sed -n '1p;/^kernel_loop/,/^%endrep/p'
isaprobe emit --src op2 --dst op1 --via "movq xmm, r64" "movq r64, xmm" | sed -n '1p;/^kernel_loop/,/^%endrep/p'
isaprobe emit --format json "addpd xmm, xmm" | cut -c1-40
isaprobe emit --src rax --dst rax "mul r8" | head -n 1 # AL is read, AX written
isaprobe emit --src rax --dst rax CBW | head -n 1
isaprobe emit --src rsi --dst rsi LODSQ | head -n 1 # not REP LODSQ, which has the mnemonic, too
