# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The parameters of a simulated core, printed and stored; groups; what cannot be found; errors.
sim=sim:tests/data/core.sim
isaprobe core -t $sim -S "$T/cpu.db"
sqlite3 "$T/cpu.db" "SELECT key, value FROM core WHERE key LIKE '%_slots' OR key LIKE 'fuse dec r64%' ORDER BY key;
    SELECT outcome, selection FROM runs"
isaprobe core -t $sim --no-store --only issue_width --only idiom --format csv | rounded
isaprobe core -t $sim --no-store --only store_rate_512 --format json | grep -E 'store_rate_(512|stride)' | rounded
isaprobe core -t $sim --no-store --only frob || echo "exit $?"
isaprobe core -t $sim --no-store frob || echo "exit $?"
# Before anything is measured.
isaprobe core -t $sim -S "$T/none/cpu.db" --record "$T/samples" --only issue || echo "exit $?"
[ -e "$T/samples" ] && echo "it was measured"
# A CPU that lacks forms: no noise, which another try would overcome.
isaprobe core -t sim:tests/data/skl.sim --no-store --only fuse --only idiom --only move --only line --only front \
    >"$T/lacking"
echo "exit $?"
grep -E '^(line_constants|uop_cache_window) ' "$T/lacking"
isaprobe core -t sim:tests/data/clusters.sim --no-store --only again --format csv | grep -c 'issue_again.*not in the'
isaprobe core -t sim:tests/data/hopeless.sim --no-store --only micro || echo "exit $?"
# A divider that takes what is older first: two chains never overlap, however few stand between them.
sed -e '/^form "divsd/d' -e 's/^form "sqrtsd.*/form "sqrtsd xmm, xmm" ports 1*p0 latency 20 blocking 9 divider/' tests/data/core.sim >"$T/serial.sim"
isaprobe core -t "sim:$T/serial.sim" --no-store --only window
echo "exit $?"
