# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Without NASM: exit 3, one line that says what to do.
mkdir "$T/bin"
ln -s "$(command -v isaprobe)" "$T/bin/isaprobe"
PATH=$T/bin isaprobe latency --timer sim:tests/data/skl.sim "addpd xmm, xmm"
echo "exit $?" >&2
ISAPROBE_NASM=$T/absent isaprobe measure --timer sim:tests/data/skl.sim nop
