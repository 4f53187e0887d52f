# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
isaprobe power --machine scc --kernel dot --measured tests/data/power/dot_measured.csv | sed -n "4,6p"
isaprobe power --machine scc --kernel dot --measured tests/data/power/dot_measured.csv --format csv | cut -d, -f1,6,17-21 | sed -n "1,2p;7p"
isaprobe power --machine scc --kernel matvec --format csv --hops 3 | head -n 3
isaprobe power --machine scc --kernel dot --format json --max-slowdown 1.0 --metric edp | head -n 2
isaprobe power --machine tests/data/power/desktop.machine --kernel tests/data/power/triad.kernel --max-power 25
# What --describe prints is read again, whatever the options were.
isaprobe power --machine scc --hops 1e16 --pending 2e6 --describe >"$T/machine"
isaprobe power --machine "$T/machine" --describe | diff "$T/machine" - && grep '^hops\|^pending' "$T/machine"
