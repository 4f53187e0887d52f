# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Where CMOV takes two cycles (until Haswell) flags are exact, too: SETcc and CMP take one each, CMP and CMOV three.
sed -e '/^form "cmov/d' tests/data/skl.sim >"$T/haswell.sim"
echo 'form "cmov* r64, r64" ports 1*p0156+1*p06 latency 2' >>"$T/haswell.sim"
isaprobe latency --timer "sim:$T/haswell.sim" "add r64, r64" "popcnt r64, r64" "cmovz r64, r64"
