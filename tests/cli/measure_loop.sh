# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A block as the body of a loop, whose own branch, if it has one, is left out; in other notations, and compiled.
sim=sim:tests/data/skl.sim
cycles() { isaprobe measure -q --timer $sim --format csv "$@" | cut -d, -f2-4 | tail -n 1 | rounded; }
cycles --loop 'imul rax, rbx'
cycles --loop 'again: imul rax, rbx; dec rcx; jnz again'
cycles 'add rax, rbx; add rcx, rdx; add rsi, rdi; add r8, r9'
cycles --loop 'add rax, rbx; add rcx, rdx; add rsi, rdi; add r8, r9'
cycles --syntax att 'imulq %rbx, %rax'
printf '   0:\t48 0f af c3          \timul   %%rbx,%%rax\n' >"$T/listing"
cycles --syntax objdump --file "$T/listing"
printf '.globl f\nf:\nimulq %%rbx, %%rax\nret\n' | as --64 -o "$T/f.o" -
cycles --object "$T/f.o" --address 0-4
printf '480fafc3\nebfe\n' >"$T/list"
isaprobe measure -q --timer $sim --loop --hex-list "$T/list" | rounded
echo "--- wrong"
isaprobe measure --timer $sim --loop 'again: jmp again'
echo "exit $?"
isaprobe measure --timer $sim --loop --unroll 4 nop
echo "exit $?"
isaprobe measure --timer $sim --object "$T/f.o" --symbol f
echo "exit $?"
isaprobe measure --timer $sim --object "$T/f.o" nop
echo "exit $?"
