# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What was recorded gives the same rows again.
isaprobe latency --timer sim:tests/data/skl.sim --record "$T/samples" "addpd xmm, xmm" >"$T/first"
isaprobe latency --timer "replay:$T/samples" "addpd xmm, xmm" | diff "$T/first" - && echo same
isaprobe latency --timer sim:tests/data/skl.sim --record "$T/absent/samples" "addpd xmm, xmm"
