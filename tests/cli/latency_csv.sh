# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Seven of the columns are the same whichever transfer is used.
isaprobe latency --timer sim:tests/data/skl.sim --format csv "addpd xmm, xmm" | head -n 1 | tr -d '\r'
isaprobe latency --timer sim:tests/data/skl.sim --format csv "addpd xmm, xmm" | tr -d '\r' | tail -n +2 | cut -d, -f1-8 | rounded
