# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
isaprobe latency --timer sim:tests/data/hopeless.sim --quiet --format csv "addpd xmm, xmm" >"$T/rows"
