# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# NASM's word, with the line.
isaprobe measure --timer sim:tests/data/skl.sim "add rax, rbx; add rax, rbx, rcx, rdx"
echo "exit $?" >&2
printf 'nop\nnop\nadd rax\n' >"$T/block.asm"
isaprobe measure --timer sim:tests/data/skl.sim --file "$T/block.asm"
echo "exit $?" >&2
isaprobe measure --timer sim:tests/data/skl.sim ""
