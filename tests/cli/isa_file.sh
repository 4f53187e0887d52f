# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A user's rows are there beside the built-in ones.
printf '# mine\nextension MINE\nshl r64, 3\n' >"$T/mine.isa"
isaprobe list --isa "$T/mine.isa" "shl r64, 3"
isaprobe throughput --isa "$T/mine.isa" --timer sim:tests/data/skl.sim "shl r64, 3" --format csv | cut -d, -f1-4 | rounded
