# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A block in each notation, from the store of a simulated CPU; what the store lacks is named, or measured.
sim=sim:tests/data/skl.sim
isaprobe scan -q -t $sim -S "$T/cpu.db" --parts latency,throughput,ports "imul r64, r64" "add r64, r64" "mov r64, m64" \
    "mov m64, r64" "sub r64, imm8"
isaprobe predict -S "$T/cpu.db" 'imul rax, rbx; add rax, rcx; mov [rsi], rdx' | rounded
echo "--- the same from hex, AT&T text and a listing"
for block in "--hex 480fafc34801c8488916" "--syntax att --file $T/att.s" "--syntax objdump --file $T/listing"; do
    printf 'imulq %%rbx, %%rax\naddq %%rcx, %%rax # LLVM-MCA-END\nmovq %%rdx, (%%rsi)\n' >"$T/att.s"
    sed -i 's/ # LLVM-MCA-END//' "$T/att.s"
    printf '0000 <f>:\n   0:\t48 0f af c3          \timul   %%rbx,%%rax\n   4:\t48 01 c8             \tadd    %%rcx,%%rax\n   7:\t48 89 16 \tmov\n' >"$T/listing"
    # shellcheck disable=SC2086
    isaprobe predict -S "$T/cpu.db" $block | sed -n 1,2p | rounded
done
echo "--- a loop, as JSON"
isaprobe predict -S "$T/cpu.db" --loop --format json 'add rax, rbx; mov rcx, [rsi]' | python3 -c '
import json, sys
row = json.loads(sys.stdin.read())
print(row["bound"], round(row["cycles"]), row["loop"], row["status"], row["missing"])
for instruction in row["instructions"]:
    print(instruction["text"], instruction["slots"], instruction["note"])
print([(b["bound"], round(b["cycles"], 1)) for b in row["bounds"]])'
echo "--- no two columns of CSV have one name, and a form that is missing twice is told once"
isaprobe predict -S "$T/cpu.db" --format csv 'popcnt rax, rbx; popcnt rbx, rcx; add rcx, rdx' | head -n 1 | tr -d '\r' | tr , '\n' | sort | uniq -d
isaprobe predict -S "$T/cpu.db" --measure -t sim:/nowhere 'popcnt rax, rbx'
echo "exit $?"
lame=sim:tests/data/store/exact.sim # has no POPCNT
isaprobe scan -q -t $lame -S "$T/lame.db" --parts latency,throughput,ports "popcnt r64, r64"
isaprobe predict -S "$T/lame.db" -t $lame --measure 'popcnt rax, rbx' >/dev/null
echo "exit $?"
echo "--- of what is missing the slot counts, or it is measured"
isaprobe predict -S "$T/cpu.db" 'popcnt rax, rbx; add rcx, rdx' | rounded
echo "exit ${PIPESTATUS[0]}"
isaprobe predict -q -S "$T/cpu.db" -t $sim --measure 'popcnt rax, rbx; add rcx, rdx' | sed -n 1,2p | rounded
echo "--- a picture"
isaprobe predict -S "$T/cpu.db" --svg "$T/block.svg" 'imul rax, rbx; add rax, rcx' >/dev/null
python3 -c 'import sys, xml.dom.minidom as m; print(m.parse(sys.argv[1]).documentElement.tagName)' "$T/block.svg"
echo "--- what does not depend makes no chain"
sed '/^form "xchg r64, r64"/s/$/ op1->op1 none op2->op2 none/' tests/data/skl.sim >"$T/xchg.sim"
isaprobe scan -q -t "sim:$T/xchg.sim" -S "$T/xchg.db" --parts latency,throughput "xchg r64, r64" "add r64, r64" "add r64, imm8" "mov r64, imm32"
isaprobe show -S "$T/xchg.db" "xchg r64, r64" | grep latency | cut -d, -f1
isaprobe predict -q -S "$T/xchg.db" --hex 4887cb4883c301 | sed -n '2p;/^chain/p' | rounded
echo "--- the first of XCHG's registers is ModRM.rm's: through either one, as measured"
for xchg in 4887cb 4887d9; do
    block="${xchg}4801d948c7c301000000"
    isaprobe measure -q -t "sim:$T/xchg.sim" --hex "$block" --format json | grep -o '"cycles": [0-9.]*' | rounded
    isaprobe predict -q -S "$T/xchg.db" --hex "$block" | grep ^chain
done
echo "--- to vectors and back: each way is known but for what the other takes"
sed '/^form "movq r64, xmm"/d; /^default/i form "* r*, xmm*" ports 1*p0 latency 3\nform "* xmm, r*" ports 1*p5 latency 4' tests/data/core.sim >"$T/transfer.sim"
isaprobe scan -q -t "sim:$T/transfer.sim" -S "$T/transfer.db" --parts latency,throughput,ports "movd r32, xmm" "movd xmm, r32" \
    "movq r64, xmm" "pinsrq xmm, r64, imm8"
isaprobe show -S "$T/transfer.db" "movd xmm, r32" "movd r32, xmm" | grep latency | cut -d, -f1
isaprobe core -q -t "sim:$T/transfer.sim" -S "$T/transfer.db" --only issue_width >/dev/null
isaprobe predict -S "$T/transfer.db" 'movd eax, xmm0; movd xmm0, eax' | sed -n 2,3p | rounded
echo "--- LEA of base, index and number, on a core where it takes two cycles and half of the ports"
isaprobe scan -q -t sim:tests/data/core.sim -S "$T/lea.db" --parts latency,throughput,ports "add r64, r64"
isaprobe core -q -t sim:tests/data/core.sim -S "$T/lea.db" --only memory >/dev/null
isaprobe predict -S "$T/lea.db" 'lea rax, [rax+rbx+8]' | sed -n 1,2p | rounded
sqlite3 "$T/lea.db" "UPDATE core SET value = 2 WHERE key IN ('lea_three', 'lea_three_rate')"
isaprobe predict -S "$T/lea.db" 'lea rax, [rax+rbx+8]' | sed -n 1,2p | rounded
isaprobe predict -S "$T/lea.db" 'lea rcx, [rax+rbx]' | sed -n 1,2p | rounded
echo "--- from its index it takes one, where that is known"
isaprobe predict -S "$T/lea.db" 'lea rax, [rbx+rax+8]' | sed -n 3p | rounded
sqlite3 "$T/lea.db" "DELETE FROM core WHERE key = 'lea_three_index'"
isaprobe predict -S "$T/lea.db" 'lea rax, [rbx+rax+8]' | sed -n 3p | rounded
echo "--- and where it is two uops: an addition, and three"
beside() {
    for block in 'add rdx, rax' 'add rdx, rax; add rsi, rax; add rdi, rax'; do
        isaprobe predict -S "$T/lea.db" "lea rcx, [rax+rbx+8]; $block" | sed -n 2p | rounded
    done
}
beside
sqlite3 "$T/lea.db" "INSERT INTO core SELECT 'micro_index lea r64, agen', 2, 0, '', run_id FROM core LIMIT 1"
beside
echo "--- LEA has the ports of the LEA that was measured, if it takes any: two of an addition's four"
isaprobe scan -q -t $sim -S "$T/plain.db" --parts latency,throughput,slots,ports "add r64, r64" "lea r64, agen"
sqlite3 "$T/plain.db" "INSERT INTO core SELECT 'lea_displacement', 1, 0, '', id FROM runs LIMIT 1"
for block in 'lea rax, [rbx+8]; lea rcx, [rbx+8]; lea rdx, [rbx+16]' 'lea rax, [rbx+rdi]; lea rcx, [rbx+rdi]; lea rdx, [rbx+rdi]'; do
    isaprobe predict -S "$T/plain.db" "$block" | sed -n 1p | rounded
done
echo "--- LEA of three parts and tiles have units of their own, not the divider"
cp tests/data/skl.sim "$T/tiles.sim"
echo 'form "tdpbf16ps tmm, tmm, tmm" ports 1*p0 latency 52 blocking 16 tiles' >>"$T/tiles.sim"
isaprobe scan -q -t "sim:$T/tiles.sim" -S "$T/tiles.db" --parts latency,throughput,slots,ports "add r64, r64" "div r64" "lea r64, agen" "tdpbf16ps tmm, tmm, tmm" "xor r64, r64"
sqlite3 "$T/tiles.db" "INSERT INTO core SELECT 'lea_three', 3, 0, '', id FROM runs LIMIT 1;
    INSERT INTO core SELECT 'lea_three_rate', 1, 0, '', id FROM runs LIMIT 1"
isaprobe predict -S "$T/tiles.db" 'div rcx; lea r8, [rsi+rdi+8]; lea r9, [rsi+rdi+8]; lea r10, [rsi+rdi+8]; tdpbf16ps tmm0, tmm1, tmm2' |
    sed -n 's/.*\(unit [0-9.]*\).*/\1/p'
echo "--- numbers that nothing measured can be are not known; others, however large, are simulated in no time"
for slots in 9e999 1e308 9e8; do
    sqlite3 "$T/plain.db" "UPDATE slots SET slots = $slots"
    isaprobe predict -S "$T/plain.db" 'add rax, rbx' | sed -n '1s/.*bound/bound/p'
done
echo "--- a branch back into the block closes an inner loop, but for the last one to the start"
for block in 'sub rdx, 1; jnz $$; sub rcx, 1; jnz $$' 'add rax, rbx; x: sub rdx, 1; jnz x'; do
    isaprobe predict -S "$T/cpu.db" --loop --format json "$block" | python3 -c '
import json, sys
print([(i["text"].split()[0], i["note"]) for i in json.loads(sys.stdin.read())["instructions"]])'
done
