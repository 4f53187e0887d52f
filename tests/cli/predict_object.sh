# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A region of an object file: between marks, of a symbol, by addresses.
isaprobe scan -q -t sim:tests/data/store/exact.sim -S "$T/cpu.db" "imul r64, r64" "add r64, r64"
cat >"$T/f.s" <<'ASM'
    .globl f
    .type f, @function
f:  addq %rcx, %rax
    movl $111, %ebx
    .byte 100, 103, 144
    imulq %rdx, %rax
    addq %rcx, %rax
    movl $222, %ebx
    .byte 100, 103, 144
    ret
    .size f, . - f
    .globl g
    .type g, @function
g:  imulq %rdx, %rax
    .size g, . - g
ASM
as --64 -o "$T/f.o" "$T/f.s"
for region in "" "--symbol g" "--address 0-3"; do
    echo "--- ${region:-marks}"
    # shellcheck disable=SC2086
    isaprobe predict -S "$T/cpu.db" --object "$T/f.o" $region --format json | python3 -c '
import json, sys
row = json.loads(sys.stdin.read())
print([(i["offset"], i["text"]) for i in row["instructions"]], round(row["cycles"]))'
done
isaprobe predict -S "$T/cpu.db" --object "$T/f.o" --symbol ff
