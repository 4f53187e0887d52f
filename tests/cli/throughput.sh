# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
S="--timer sim:tests/data/skl.sim"
# shellcheck disable=SC2086
{
    isaprobe throughput $S "addpd xmm, xmm" "imul r64, r64" "add r64, r64" | awk '{ print $1, $2, $3, $4, $5 }'
    isaprobe throughput $S --format json "addpd xmm, xmm" | rounded | sed 's/"registers.*"status"/"status"/'
    isaprobe throughput $S --format csv "addpd xmm, xmm" | tr -d '\r' | cut -d, -f1-4 | rounded
}
