# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# An upper bound is shown by one character where the locale has it, and the columns stay in line.
isaprobe latency --timer sim:tests/data/skl.sim "movq r64, xmm" "mov m64, r64" ret
LC_ALL=C.UTF-8 isaprobe latency --timer sim:tests/data/skl.sim "movq r64, xmm" "mov m64, r64" ret
