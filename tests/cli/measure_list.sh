# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A header, a comment, CSV, a bad line, a block that does not decode, one that leaves itself, one that hangs.
printf 'hex,application\n480fafc34801c8,mine\n# none\n4801d8\nxyz\n480\n06\nc3\nf390\n' >"$T/list.csv"
isaprobe measure --timer sim:tests/data/skl.sim --hex-list "$T/list.csv" --format csv | tr -d '\r' | rounded | cut -d, -f1,2,3,4,7-
code=${PIPESTATUS[0]}
# The reason of the first of many; a list that is no text.
{ echo zz; for _ in $(seq 200); do echo 4801d8; done; } >"$T/long"
isaprobe measure --timer sim:tests/data/skl.sim --hex-list "$T/long" --format csv | sed -n 2p | tr -d '\r'
# Lines that end in CR, or in CR LF.
printf 'hex\r480fafc3\r4801d8\r' >"$T/cr"
isaprobe measure --timer sim:tests/data/skl.sim --hex-list "$T/cr" | rounded
sed 's/$/\r/' "$T/list.csv" | isaprobe measure -q --timer sim:tests/data/skl.sim --hex-list - --format csv 2>"$T/err" |
    tr -d '\r' | rounded | cut -d, -f1,2,3,4
printf '4801d8\n\0\n4801d9\n' >"$T/nul"
isaprobe measure --timer sim:tests/data/skl.sim --hex-list "$T/nul"
echo "exit $?"
exit "$code"
