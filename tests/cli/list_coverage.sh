# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the store has is counted as it says; what it has not, by what keeps it from being measured.
isaprobe scan -q -t sim:tests/data/store/exact.sim -S "$T/cpu.db" --parts throughput "imul r64, r64" "popcnt r64, r64" "bsf r64, r64" "vpaddq ymm, ymm, ymm"
forms=("imul r64, r64" "popcnt r64, r64" "bsf r64, r64" cli sti hlt "add r64, r64" "vpaddq ymm, ymm, ymm")
isaprobe list --coverage -S "$T/cpu.db" "${forms[@]}"
isaprobe list --coverage -S "$T/cpu.db" --format json "${forms[@]}"
isaprobe list --coverage -S "$T/cpu.db" --format csv POPCNT | tr -d '\r'
isaprobe list --coverage -S "$T/none.db" POPCNT
echo "exit $?"
