# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Control characters of the user's words do not reach the terminal, nor do they break the line.
isaprobe list "$(printf 'add\033[31m\nx')" 2>&1 | od -An -c | grep -c '033\|\\n *[a-z]'
isaprobe "$(printf 'a\nb')"
