# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# --extension means the same wherever forms are named: of those, or of all, the ones that are of it.
sim=sim:tests/data/store/exact.sim
db=$T/cpu.db
try() {
    echo "== $*" | sed "s#$PWD/##"
    isaprobe "$@" 2>&1
    status=$?
    ((status == 0)) || echo "exit $status"
}
try list -e aes -e POPCNT
try list --extension AES --count
try list -e AES "aesenc xmm, m128" addpd
try list -e AES --format csv "aesdec*" | tr -d '\r'
try list -e AES -v aesimc
try list -e AVX3
try list -e AES addpd
isaprobe scan -q --no-latency -t $sim -S "$db" "imul r64, r64" "popcnt r64, r64" "vpaddd ymm, ymm, ymm" cmc
try list -e popcnt -e AVX2 --coverage -S "$db" --format csv | tr -d '\r'
show() { try show -S "$db" --format csv "$@" | tr -d '\r' | cut -d, -f 1-4 | rounded; }
show --extension POPCNT --extension avx2
show --extension BASE imul popcnt
show --extension AES
show --extension POPCNTT
show --extension POPCNT imul
show
export() { try export -S "$db" --format csv "$@" | tr -d '\r' | cut -d, -f 1-4 | rounded; }
export -e POPCNT -e avx2
export -e BASE imul popcnt
export -e AES
export -e POPCNTT
export -e POPCNT imul
try scan -t $sim -S "$db" -e POPCNTT
