# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Rounds of store and load: predicted from a scan of a simulated CPU, and what that CPU takes for them.
sim=sim:tests/data/everything.sim
isaprobe scan -q -t $sim -S "$T/cpu.db" --parts latency,throughput,ports "movups xmm, m128" "movups m128, xmm" "movq r64, xmm" \
    "movq xmm, r64" "movd r32, xmm" "movd xmm, r32" "mov r64, m64" "mov m64, r64" "paddd xmm, xmm" "add r64, m64" "movsxd r64, m32" \
    "mov m32, r32" "addps xmm, m128"
isaprobe core -q -t $sim -S "$T/cpu.db" --only memory >/dev/null
while read -r block; do
    predicted=$(isaprobe predict -q -S "$T/cpu.db" "$block" | awk 'NR == 1 { printf "%.1f", $2 }')
    measured=$(isaprobe measure -q -t $sim --format csv "$block" | awk -F, 'NR == 2 { printf "%.1f", $4 }')
    echo "$predicted $measured $block"
done <<'END'
mov [rsi], rax; mov rax, [rsi]
add r8, [rsi]; mov [rsi], r8
movsxd rax, dword [rsi]; mov [rsi], eax
movups [rsi], xmm0; movups xmm0, [rsi]
movups [rsi], xmm0; movups xmm0, [rsi]; paddd xmm0, xmm1
addps xmm0, [rsi]; movups [rsi], xmm0
movups [rsi], xmm0; mov rax, [rsi]; movq xmm0, rax
mov [rsi], rax; movups xmm0, [rsi]; movq rax, xmm0
END
