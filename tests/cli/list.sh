# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
isaprobe list addpd
isaprobe list --count ADDPD
isaprobe list "ADD  r64 ,  r64" "add r64, r64/m64"
