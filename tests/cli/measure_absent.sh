# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
isaprobe measure --timer sim:tests/data/skl.sim --file "$T/absent.asm"
echo "exit $?" >&2
isaprobe measure --timer sim:tests/data/skl.sim --hex-list "$T/absent.csv"
echo "exit $?" >&2
: >"$T/empty.csv"
isaprobe measure --timer sim:tests/data/skl.sim --hex-list "$T/empty.csv"
