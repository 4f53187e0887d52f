# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the simulation did in its first passes, as a picture and as rows; from the store of a simulated CPU.
isaprobe scan -q -t sim:tests/data/skl.sim -S "$T/cpu.db" --parts latency,throughput,ports "imul r64, r64" "add r64, r64" \
    "add r64, imm8" "mov r64, m64" "mov m64, r64" "sub r64, imm8" "xor r64, r64"
isaprobe predict -S "$T/cpu.db" --loop --timeline 2 'mov rbx, [rsi]; imul rbx, rdx; add rcx, rbx; xor rdi, rdi' | rounded
echo "--- stores: forwarded, and late in the cache"
isaprobe predict -S "$T/cpu.db" --timeline 1 'mov [rsi], rax; mov [rsi+64], rax; mov rbx, [rsi]' | sed '1,/^pass/d'
echo "--- rows"
isaprobe predict -S "$T/cpu.db" --loop --timeline 2 --format csv 'mov [rsi], rax; xor rdi, rdi' | tr -d '\r' | rounded
isaprobe predict -S "$T/cpu.db" --timeline 1 --format json 'mov [rsi], rax; popcnt rbx, rax; mov rbx, [rsi]' | rounded | python3 -c '
import json, sys
for line in sys.stdin:
    print(json.loads(line))'
echo "exit ${PIPESTATUS[0]}"
echo "--- the prediction is the same, and stands first"
isaprobe predict -S "$T/cpu.db" 'imul rax, rbx' >"$T/plain"
isaprobe predict -S "$T/cpu.db" --timeline 3 'imul rax, rbx' | head -n "$(wc -l <"$T/plain")" | diff "$T/plain" - && echo "the same"
echo "--- longer than a line, in cycles, in instructions, and in what an instruction is"
long=$(printf 'imul rax, rbx; %.0s' {1..50})
isaprobe predict -S "$T/cpu.db" --timeline 1 "$long mov qword [rsi+rdi*8+0x12345678], 0x12345678" >"$T/long"
grep '^pass' "$T/long"
tail -n 2 "$T/long"
sed '1,/^pass/d' "$T/long" | awk 'length > 120'
grep -c '^   0 \*imul' "$T/long"
echo "--- what cannot be shown"
isaprobe predict -S "$T/cpu.db" --timeline 200 --format csv "$long" | cut -d, -f1 | uniq | tr '\n' ' '
echo
isaprobe predict -q -S "$T/cpu.db" --timeline 13 "$long" | grep ^timeline
for passes in 0 201 -1 x 1.5 ""; do
    isaprobe predict -S "$T/cpu.db" --timeline "$passes" nop
    echo "exit $?"
done
isaprobe predict -S "$T/cpu.db" --timeline
echo "exit $?"
sqlite3 "$T/cpu.db" 'DELETE FROM portmap; UPDATE runs SET sentinel_cycles = NULL'
isaprobe predict -S "$T/cpu.db" --timeline 2 'imul rax, rbx'
echo "exit $?"
