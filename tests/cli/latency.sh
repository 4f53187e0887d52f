# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
isaprobe latency --timer sim:tests/data/skl.sim "addpd xmm, xmm" "imul r64, r64" "sub r64, r64"
