# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A signal in the middle of a long run: 128 + its number, and no child and no file are left.
yes 480fafc34801c8 | head -n 100000 >"$T/list"
isaprobe measure --timer sim:tests/data/skl.sim --hex-list "$T/list" >"$T/rows" &
sleep 0.5
kill -s TERM $!
wait $!
echo "exit $?"
