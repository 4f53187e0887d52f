# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
isaprobe latency --timer "sim:$T/absent.sim" "addpd xmm, xmm"
