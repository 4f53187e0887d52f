# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# file:line:column, exit 2.
printf 'extension MINE\nfrob r64, r65\n' >"$T/mine.isa"
isaprobe list --isa "$T/mine.isa" frob
