# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Into a file, over a longer one; not at all when the directory is not there.
seq 1000 >"$T/rows.json"
isaprobe list --format json -o "$T/rows.json" "addpd xmm, xmm"
cat "$T/rows.json"
isaprobe list --format json -o - "addpd xmm, xmm"
isaprobe list -o "$T/absent/rows.json" addpd
