# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Hopeless noise is reported instead of a number: exit 4.
isaprobe latency --timer sim:tests/data/hopeless.sim --format csv "addpd xmm, xmm" >"$T/rows"
code=$?
grep -o 'disturbed\|unstable' "$T/rows" | sort -u
tail -n +2 "$T/rows" | cut -d, -f7
exit $code
