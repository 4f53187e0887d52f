# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A command that fails leaves the earlier file as it was.
echo precious >"$T/rows"
isaprobe list -o "$T/rows" --isa "$T/absent.isa" addpd
code=$?
cat "$T/rows"
exit $code
