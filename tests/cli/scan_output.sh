# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A form that waits for the register that it only writes: a scan says so, show tells it, predict counts with it.
sed '/^default/i form "popcnt r64, r64" ports 1*p1 latency 3 reads op1\nform "lzcnt r64, r64" ports 1*p1 latency 3' \
    tests/data/core.sim >"$T/wait.sim"
isaprobe scan -q -t "sim:$T/wait.sim" -S "$T/wait.db" --parts latency,throughput,ports "popcnt r64, r64" "lzcnt r64, r64" "sub r64, r64" \
    "add r64, r64"
sqlite3 "$T/wait.db" "SELECT key, round(value, 1), how FROM core WHERE key LIKE 'output%'"
isaprobe show -S "$T/wait.db" "popcnt r64, r64" | grep "^  output " | rounded
isaprobe show -S "$T/wait.db" "lzcnt r64, r64" | grep "^  output " || echo "lzcnt: exit $?"
isaprobe show -S "$T/wait.db" --format json "popcnt r64, r64" "lzcnt r64, r64" | grep -o '"output_cycles": [a-z0-9.]*' | rounded
isaprobe throughput -q -t "sim:$T/wait.sim" "popcnt r64, r64" "lzcnt r64, r64"
isaprobe core -q -t "sim:$T/wait.sim" -S "$T/wait.db" --only issue_width >/dev/null
isaprobe predict -S "$T/wait.db" 'popcnt rax, rbx' | sed -n 2,3p | rounded
isaprobe predict -S "$T/wait.db" 'lzcnt rax, rbx' | sed -n 2,3p | rounded
echo "--- what noise made of another goes with the next scan"
sqlite3 "$T/wait.db" "INSERT INTO core SELECT 'output lzcnt r64, r64', 2.0, spread, how, run_id FROM core WHERE key = 'output popcnt r64, r64'"
isaprobe show -S "$T/wait.db" "lzcnt r64, r64" | grep "^  output "
isaprobe scan -q --force -t "sim:$T/wait.sim" -S "$T/wait.db" --parts throughput "lzcnt r64, r64" "popcnt r64, r64"
sqlite3 "$T/wait.db" "SELECT key, round(value, 1), how FROM core WHERE key LIKE 'output%'"
isaprobe show -S "$T/wait.db" "lzcnt r64, r64" | grep "^  output " || echo "lzcnt: exit $?"
echo "--- an idiom that the core was asked about, where the scan could not tell"
sqlite3 "$T/wait.db" "UPDATE latency SET same_register_cycles = NULL; DELETE FROM core WHERE key LIKE 'idiom%'"
isaprobe predict -S "$T/wait.db" 'sub rax, rax; add rax, rbx' | sed -n 2p | rounded
isaprobe core -q -t "sim:$T/wait.sim" -S "$T/wait.db" --only idiom >/dev/null
isaprobe predict -S "$T/wait.db" 'sub rax, rax; add rax, rbx' | sed -n 2p | rounded
