# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
isaprobe doctor --root tests/data/host/hybrid | grep -A 1 cores
isaprobe doctor --root tests/data/host/hybrid --cpu 7 | grep -A 1 cores
isaprobe doctor --root tests/data/host/hybrid --cpu 99
echo "exit $?"
