# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A store that is a little slower than its ports keeps something busy; one that is much slower was slow for its places.
isaprobe scan -q -t sim:tests/data/skl.sim -S "$T/cpu.db" --parts latency,throughput,ports "mov m64, r64" "mov r64, m64"
for factor in 1.0 1.05 1.1 1.2 1.3 2.0; do
    sqlite3 "$T/cpu.db" "UPDATE ports SET cycles = $factor * expected_cycles"
    echo "$factor $(isaprobe predict -q -S "$T/cpu.db" 'mov [rsi], rax; mov [rsi+8], rcx' | rounded | grep -o 'unit [0-9.]*')"
done
echo "--- what changes memory loads and stores: two accesses, where a store takes one port"
isaprobe scan -q -t sim:tests/data/skl.sim -S "$T/cpu.db" --parts latency,throughput,ports "add m64, r64" "add r64, r64"
usage() { sqlite3 "$T/cpu.db" "UPDATE ports SET usage = '$2', uops = 1 WHERE form_id = (SELECT id FROM forms WHERE syntax = '$1')"; }
usage "mov r64, m64" "1*p237"
usage "mov m64, r64" "1*p27"
usage "add r64, r64" "1*p0156"
for own in "1*p27+1*p0156" "1*p237+1*p0156" "1*p27+1*p237+1*p0156" "2*p27+1*p0156"; do
    usage "add m64, r64" "$own"
    echo "$own: $(isaprobe predict -q -S "$T/cpu.db" 'add [rsi], rax' | rounded | grep '^ *0 ' | tr -s ' ')"
done
