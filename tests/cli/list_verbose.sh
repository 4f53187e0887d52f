# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
isaprobe list --verbose "add r64, r64/m64" "addpd xmm, xmm"
