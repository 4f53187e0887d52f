# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# --measured: what is no measurement is an error, with its place; what --keep writes is read again.
sim=sim:tests/data/skl.sim
isaprobe scan -q -t $sim -S "$T/cpu.db" --parts throughput "imul r64, r64" "add r64, r64"
printf '480fafc3\n4801c8\n' >"$T/blocks"
validate() {
    isaprobe validate -q -S "$T/cpu.db" --mca none "$@" "$T/blocks" >"$T/rows"
    echo "exit $?"
}
try() {
    printf 'hex,notion,cycles,spread,fill,status\n%b\n' "$1" >"$T/measured"
    validate --no-measure --measured "$T/measured"
}
exec 2>&1
try '4801c8,unrolled,1,0.01,0x1,ok\n\n480fafc3,unrolled,,,0,unstable; why\n90,loop,2.5,,5,once'
try '4801c8,unrolled,0,0,0x1,ok'
try '480fafc3,unrolled,-3,0,0x1,ok'
try '4801c8,unrolled,inf,0,0x1,ok'
try '4801c8,unrolled,1,nan,0x1,ok'
try '4801c8,unrolled,1,-1,0x1,ok'
try '4801c8,unrolled,1 cycle,0,0x1,ok'
try '4801c8,unrolled,1,0,zz,ok'
try '4801c8,unrolled,1,0,-1,ok'
try '4801c8,unrolled,1,0,,ok'
try '4801c8,unrolled,1,0,0x11111111111111111,ok'
try '4801c8,unrolled,1,0,0x1,'
try '4801c8,rolled,1,0,0x1,ok'
try 'zz,unrolled,1,0,0x1,ok'
try ',unrolled,1,0,0x1,ok'
try '4801c8,unrolled,1,0,0x1'
try '4801c8,unrolled,1,0,0x1,unstable: a, b'
try '4801c8,unrolled,1,0,0x1,"unstable: a, b"'
try '4801c8,unrolled,1,0,0x1,"ok'
try '4801c8,unrolled,1,0,0x1,ok\n480fafc3,unrolled,3,0,0x1,ok\r\n4801c8,loop,1,0,0,ok\n4801c8,unrolled,2,0,0x1,ok'
printf '480fafc3\r4801c8\r' >"$T/blocks"
try '4801c8,unrolled,1,0,0x1,ok\r480fafc3,unrolled,3,0,0x1,ok\r4801c8,unrolled,2,0,0x1,ok'
try '4801c8,unrolled,1,0,0x1,ok\r480fafc3,unrolled,3,0,0x1,ok'
isaprobe validate -q -S "$T/cpu.db" --mca none --blocks --format csv --no-measure --measured "$T/measured" "$T/blocks" |
    cut -d, -f 1,2,3,6
echo "--- a block that is there twice is kept once"
printf '480fafc3\n4801c8\n480fafc3\n' >"$T/blocks"
validate -t $sim --keep "$T/kept"
cut -d, -f 1,2,6 "$T/kept"
cp "$T/kept" "$T/same"
validate --no-measure --measured "$T/kept" --keep "$T/kept"
cmp "$T/kept" "$T/same"
echo "--- what is missing is said to its end, and of no number there is no spread"
sed 's/"popcnt \*" illegal/"pclmulqdq *" illegal/' tests/data/store/exact.sim >"$T/lame.sim"
isaprobe scan -q -t "sim:$T/lame.sim" -S "$T/lame.db" --parts throughput "pclmulqdq xmm, xmm, imm8" "add r64, r64"
printf '660f3a44c100\n4801d8\n' >"$T/blocks"
printf '4801d8,unrolled,,0,0x1,disturbed: all batches\n' >"$T/measured"
isaprobe validate -q -S "$T/lame.db" --mca none --blocks --format csv --notion unrolled --no-measure --measured "$T/measured" \
    "$T/blocks" | cut -d, -f 1,2,6,7,10-
