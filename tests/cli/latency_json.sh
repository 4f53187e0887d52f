# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Which transfer is used is the probe's business.
isaprobe latency --timer sim:tests/data/skl.sim --format json "addpd xmm, xmm" | rounded | sed 's/"via": "[^"]*"/"via": "..."/g'
