# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
isaprobe pair --timer sim:tests/data/skl.sim "imul r64, r64" "popcnt r64, r64"
isaprobe pair --timer sim:tests/data/skl.sim "imul r64, r64" "add r64, r64"
isaprobe pair --timer sim:tests/data/skl.sim --format json "imul r64, r64" "addpd xmm, xmm" | rounded
