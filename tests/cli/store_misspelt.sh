# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Where a store is read, a name that does not exist gets the nearest ones; one that was not scanned gets "scan".
isaprobe scan -q --no-latency -t sim:tests/data/store/exact.sim -S "$T/a.db" "cmc" "add r64, r64"
attempt() {
    isaprobe "$@"
    echo "exit $?"
}
for query in adpd "add r64, r65" "add r64, r8" "imul r64, r64" "zzzzzzzzzz" "zz*" "ADD R64, R64"; do
    attempt show -S "$T/a.db" "$query"
    attempt export -S "$T/a.db" --format csv cmc "$query"
done 2>&1 | grep -v 'ADD\|cmc\|CMC\|^ \|^form\|^name\|^add'
isaprobe predict -S "$T/a.db" 'zzzzzzzzzz rax, rbx'
echo "exit $?"
