# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A CPU that is not there: this host lacks it, exit 3.
isaprobe latency --cpu 9999 "addpd xmm, xmm" 2>&1
