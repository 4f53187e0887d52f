# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
isaprobe latency --timer sim:tests/data/skl.sim --format csv "addpd xmm, xmm" | tr -d '\r' | rounded
