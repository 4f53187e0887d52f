# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A store that is a little slower than its ports keeps something busy; one that is much slower was slow for its places.
isaprobe scan -q -t sim:tests/data/skl.sim -S "$T/cpu.db" --parts latency,throughput,ports "mov m64, r64" "mov r64, m64"
for factor in 1.0 1.05 1.1 1.2 1.3 2.0; do
    sqlite3 "$T/cpu.db" "UPDATE ports SET cycles = $factor * expected_cycles"
    echo "$factor $(isaprobe predict -q -S "$T/cpu.db" 'mov [rsi], rax; mov [rsi+8], rcx' | rounded | grep -o 'unit [0-9.]*')"
done
