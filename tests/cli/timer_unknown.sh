# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
isaprobe latency --timer sundial "addpd xmm, xmm"
