# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Names of instructions, extensions and formats are ASCII, also where the capital of i is another letter than I.
if ! localedef -i tr_TR -f UTF-8 "$T/tr_TR.UTF-8" 2>/dev/null; then
    echo "localedef makes no Turkish locale here (package locales)"
    exit 77
fi
turkish() {
    env LOCPATH="$T" LC_ALL=tr_TR.UTF-8 isaprobe "$@" # the shell itself stays out of it
}
cat >"$T/cpu.sim" <<'END'
isaprobe-sim 1
issue-width 4
rob 224
ports p0 p1 p2 p4 p5 p6
load-ports p2
store-address-ports p2
store-data-ports p4
ports-csv "table.csv"
default ports 1*p0156 latency 1
END
printf '%s\n' instruction,latency,ports '"IMUL (R64, R64)",9,1*p1' >"$T/table.csv"
turkish scan -q -t sim:"$T/cpu.sim" -S "$T/cpu.db" --parts latency "imul r64, r64"
turkish export -S "$T/cpu.db" | grep -o 'string="[^"]*"\|<latency cycles="[0-9]*"'
turkish export -S "$T/cpu.db" --format csv | cut -d , -f 1-8
turkish export -S "$T/cpu.db" --format maqao-lua | grep -o 'mnemonic = "[^"]*"'
turkish list -e bmi1 | head -n 2
