# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A closed stdout: one line, exit 1; the data goes into no other file.
try() {
    isaprobe "$@"
    echo "exit $?" >&2
}
try list addpd >&-
try latency --timer sim:tests/data/skl.sim --record "$T/record" "addpd xmm, xmm" >&-
try --version >&-
try list addpd -o "$T/rows" >&-
head -n 1 "$T/rows"
try measure --timer sim:tests/data/skl.sim - <&-
isaprobe list adpd 2>&-
echo "exit $?" >&2
