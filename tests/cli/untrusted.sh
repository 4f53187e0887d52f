# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Hopeless noise is reported instead of a number: exit 4.
isaprobe latency --timer sim:tests/data/hopeless.sim --format csv "addpd xmm, xmm" >"$T/rows"
code=$?
sed 's/.*,\(unstable\|disturbed\).*/untrusted/;s/\r//' "$T/rows" | tail -n +2 | sort -u
exit $code
