# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Into a file, over a longer one; not at all when the directory is not there.
seq 1000 >"$T/rows.json"
isaprobe list --format json -o "$T/rows.json" "addpd xmm, xmm"
cat "$T/rows.json"
isaprobe list --format json -o - "addpd xmm, xmm"
# What stands before it in the file that standard output goes to stays.
{
    echo "a line before"
    isaprobe list --count -o /dev/stdout addpd
    isaprobe list --count -o "$T/all" addpd
    echo "a line behind"
} >"$T/all"
cat "$T/all"
isaprobe list -o "$T/absent/rows.json" addpd
