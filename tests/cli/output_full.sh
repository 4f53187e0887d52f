# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A full disk, found when the data is written: one line, exit 1.
try() {
    isaprobe "$@"
    echo "exit $?" >&2
}
try list addpd >/dev/full
try list --format csv addpd >/dev/full
try list --format json addpd -o /dev/full
try emit "addpd xmm, xmm" >/dev/full
try latency --timer sim:tests/data/skl.sim "addpd xmm, xmm" >/dev/full
try latency --timer sim:tests/data/skl.sim --record /dev/full "addpd xmm, xmm"
try --version >/dev/full
try latency --help >/dev/full
try doctor --root tests/data/host/vm >/dev/full
true
