# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A command that fails leaves the earlier file as it was: also one that measured, and found nothing (exit 4).
echo precious >"$T/rows"
isaprobe list -o "$T/rows" --isa "$T/absent.isa" addpd
echo "exit $?"
for format in text csv json; do
    isaprobe portmap -t sim:tests/data/hopeless.sim --format "$format" -o "$T/rows"
    echo "exit $?"
done
isaprobe ports -t sim:tests/data/hopeless.sim --format csv -o "$T/rows" "add r64, r64"
echo "exit $?"
cat "$T/rows"
