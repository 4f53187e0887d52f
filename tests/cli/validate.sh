# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Predictions against a simulated CPU that the store is of: they agree. Measurements are kept and read again.
sim=sim:tests/data/skl.sim
isaprobe scan -q -t $sim -S "$T/cpu.db" --parts latency,throughput,ports "imul r64, r64" "add r64, r64" "mov r64, m64" \
    "mov m64, r64" "xor r32, r32" "lea r64, agen" "sub r64, imm8"
cat >"$T/blocks.csv" <<'CSV'
hex,application
480fafc34801c8,chain
480fafc3480fafcb480fafd3,port
4801d84801d94801da4801df4801de,issue
488b06488b4e08488b5610,loads
0fa24801d8,missing
0f05,leaves
CSV
isaprobe validate -t $sim -S "$T/cpu.db" --mca none --keep "$T/measured.csv" --format json -q "$T/blocks.csv" | python3 -c '
import json, sys
for line in sys.stdin:
    row = json.loads(line)
    print(row["notion"], row["predictor"], row["blocks"], row["compared"], row["mape"] < 8, row["tau"] > 0.8,
          [(a["why"], a["blocks"]) for a in row["apart"]])'
sed -n '1p' "$T/measured.csv"
wc -l <"$T/measured.csv"
isaprobe validate -S "$T/cpu.db" --mca none --measured "$T/measured.csv" --no-measure --blocks --notion loop --format csv -q \
    "$T/blocks.csv" | tr -d '\r' | cut -d, -f 1-3,5,8,10 |
    sed 's/,[0-9.-]*,counted/,*,counted/'
isaprobe scan -q -t $sim -S "$T/few.db" --parts latency,throughput,ports "add r64, r64"
echo 4801d8 >"$T/block" # measured, and not predicted: its loop has a SUB
isaprobe validate -t $sim -S "$T/few.db" --mca none --blocks --format csv -q "$T/block" | tr -d '\r' | cut -d, -f 3-5,8,10 | rounded
isaprobe validate -S "$T/cpu.db" --no-measure --mca none "$T/blocks.csv" 2>/dev/null | grep -c compared
echo 'hex
4801' >"$T/bad"
sed -i 's/4801/480/' "$T/bad"
isaprobe validate -S "$T/cpu.db" "$T/bad"
echo "exit $?"
isaprobe validate -S "$T/cpu.db" --mca /nowhere/llvm-mca --no-measure "$T/blocks.csv"
echo "exit $?"
mkdir "$T/mca-x"
printf '#!/bin/sh\n' >"$T/mca-x/llvm-mca"
chmod +x "$T/mca-x/llvm-mca"
isaprobe validate -q -S "$T/cpu.db" --mca "$T/mca-x/llvm-mca" --no-measure "$T/blocks.csv"
echo "exit $?"
cp "$T/mca-x/llvm-mca" "$T/mca-x/other"
isaprobe validate -q -S "$T/cpu.db" --mca "$T/mca-x/other" --no-measure "$T/blocks.csv"
echo "exit $?"
printf 'hex,notion\n\0' >"$T/nul.csv"
isaprobe validate -q -S "$T/cpu.db" --mca none --no-measure --measured "$T/nul.csv" "$T/blocks.csv"
echo "exit $?"
echo "--- damaged measurements are refused, what was measured once is measured again"
sed '2s/,[0-9.]*,/,x,/' "$T/measured.csv" >"$T/bad.csv"
cp "$T/bad.csv" "$T/same.csv"
isaprobe validate -q -S "$T/cpu.db" --mca none --no-measure --measured "$T/bad.csv" --keep "$T/bad.csv" "$T/blocks.csv"
echo "exit $?"
cmp "$T/bad.csv" "$T/same.csv" # a file that could not be read is not lost
: >"$T/bad.csv"
isaprobe validate -q -S "$T/cpu.db" --mca none --no-measure --measured "$T/bad.csv" "$T/blocks.csv"
echo "exit $?"
sed 's/,ok$/,once/; s/^\(480fafc34801c8,[a-z]*\),[0-9.]*,/\1,9.5,/' "$T/measured.csv" >"$T/once.csv"
isaprobe validate -q -t $sim -S "$T/cpu.db" --mca none --measured "$T/once.csv" --keep "$T/again.csv" "$T/blocks.csv" >"$T/out"
cut -d, -f 1,2,6 "$T/measured.csv" | diff - <(cut -d, -f 1,2,6 "$T/again.csv") && grep -c ',9.5,' "$T/again.csv"
echo 'a,b' >"$T/none.csv"
isaprobe validate -S "$T/cpu.db" --measured "$T/none.csv" --no-measure "$T/blocks.csv"
echo "exit $?"
echo "--- told apart, the histogram and the worst, with measurements from a file"
{
    cat tests/data/skl.sim
    printf 'form "fchs" ports 1*p0 latency 1\nform "ffree *" ports 1*p05\n'
} >"$T/x87.sim"
isaprobe scan -q -t "sim:$T/x87.sim" -S "$T/x87.db" "imul r64, r64" "add r64, r64" "add r64, imm32" "mov r64, m64" "sub r64, imm8" fchs
cat >"$T/given.csv" <<'CSV'
hex,notion,cycles,spread,fill,status
480fafc3,loop,3.01,0.001,0x12345600,ok
4801d8,loop,4,0.05,0x12345600,ok
4801d9,loop,1,0.001,0x12345600,unstable: 9 batches spread over 20 %
488b463d,loop,1,0.001,0x12345600,ok
4881c600200000488b06,loop,1,0.001,0x12345600,ok
d9e0,loop,1,0.001,0x12345600,ok
480fafcb,loop,,,0x12345600,fault: illegal instruction
0f0b,loop,,,0x12345600,fault: illegal instruction
CSV
isaprobe validate -S "$T/x87.db" --mca none --notion loop --measured "$T/given.csv" --no-measure -q "$T/given.csv"
