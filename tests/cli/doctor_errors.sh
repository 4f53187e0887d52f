# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
isaprobe doctor --root "$T/absent"
echo "exit $?" >&2
isaprobe doctor --help | grep -e --timer -e --record -e --careful
isaprobe doctor --save /dev/null/tree
