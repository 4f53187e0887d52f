# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The nearest names are suggested; which ones depends on the tables.
isaprobe list adpd 2>"$T/err"
code=$?
grep -c addpd "$T/err"
wc -l <"$T/err"
sed 's/adpd.*/adpd .../' "$T/err"
exit $code
