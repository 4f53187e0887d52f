# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
isaprobe list --format json "addpd xmm, xmm/m128"
isaprobe list --format json --verbose "imul r64, r64"
