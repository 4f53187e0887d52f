# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
isaprobe measure --timer sim:tests/data/skl.sim "imul rax, rbx; add rax, rcx"
isaprobe measure --timer sim:tests/data/skl.sim --hex "48 0f af c3 48 01 c8"
printf 'imul rax, rbx ; a comment\nadd rax, rcx\n' | isaprobe measure --timer sim:tests/data/skl.sim -
printf 'imul rax, rbx ; a comment\nadd rax, rcx\n' >"$T/block.asm"
isaprobe measure --timer sim:tests/data/skl.sim --file "$T/block.asm" --format json | rounded
