# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
isaprobe list --format csv "imul r64, r64" "add r64, r64" | od -c | head -n 6
isaprobe list --format csv --verbose "add r64, r64" | tr -d '\r'
