# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A user's rows are there beside the built-in ones.
# A byte order mark, as some editors write, is none of its text.
printf '\xef\xbb\xbf# mine\nextension MINE\nshl r64, 3\n' >"$T/mine.isa"
isaprobe list --isa "$T/mine.isa" "shl r64, 3"
isaprobe throughput --isa "$T/mine.isa" --timer sim:tests/data/skl.sim "shl r64, 3" --format csv | cut -d, -f1-4 | rounded
{ printf '\xef\xbb\xbf' && cat tests/data/skl.sim; } >"$T/mark.sim"
isaprobe throughput -q --timer "sim:$T/mark.sim" "imul r64, r64" --format csv | cut -d, -f1-4 | rounded
echo "--- columns, however many"
printf '\xef\xbb\xbfa,b,c,d,e,f,g,instruction,ports\n,,,,,,,"IMUL (R64, R64)",1*p5\n' >"$T/many.csv"
sed '/^form "imul r64, r64"/d' tests/data/skl.sim >"$T/many.sim"
echo 'ports-csv "many.csv"' >>"$T/many.sim"
isaprobe throughput -q --timer "sim:$T/many.sim" "imul r64, r64" --format csv | cut -d, -f1-4 | rounded
