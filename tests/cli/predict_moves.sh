# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A MOV that the operation behind it takes into its slot: it has none, and says so.
isaprobe scan -q -t sim:tests/data/skl.sim -S "$T/cpu.db" "mov r64, r64" "add r64, r64"
isaprobe core -q -t sim:tests/data/skl.sim -S "$T/cpu.db" --only issue_width >"$T/rows"
for takes in 0 1; do
    sqlite3 "$T/cpu.db" "INSERT OR REPLACE INTO core VALUES('move add r64, r64', $takes, 0, 'by hand', 1)"
    isaprobe predict -q -S "$T/cpu.db" 'mov rcx, rdi; add rcx, rsi; mov rdx, rdi; add rbx, rdx' | rounded | grep -E '^ *[0-9a-f]+ .*(mov|add)' | tr -s ' ' | cut -c 1-25
done
isaprobe predict -q -S "$T/cpu.db" 'mov rcx, rdi; add rcx, rsi' | grep -o 'in the slot of.*'
