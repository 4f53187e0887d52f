# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Which transfers and extra chains are tried is the probe's business.
isaprobe latency --timer sim:tests/data/skl.sim --format json "addpd xmm, xmm" | rounded |
    sed -E 's/"(via|chained_cycles|same_register_cycles)": ("[^"]*"|[0-9.]+|null)/"\1": .../g'
# What has no number has its reason.
isaprobe latency --timer sim:tests/data/skl.sim --format json "addpd xmm, m128" | grep -o '"path": "content", "cycles": null.*' | grep -o '"why": "[^"]*"' | head -n 1
