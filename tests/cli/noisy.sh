# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Noise, spikes and a moving clock, and the truth all the same.
isaprobe latency --timer sim:tests/data/noisy.sim --format csv "addpd xmm, xmm" "imul r64, r64" >"$T/rows"
code=$?
tr -d '\r' <"$T/rows" | awk -F, 'NR > 1 && $5 != "flags" {
    truth = $1 ~ /addpd/ ? 4 : 3
    print $1, $4, $5, ($7 > truth * 0.99 && $7 < truth * 1.01) ? "right" : "wrong: " $7 }'
exit $code
