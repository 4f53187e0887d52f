# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
isaprobe power --machine host --root tests/data/power/rk3399 --describe
isaprobe power --quiet --machine host --root tests/data/power/server --kernel matmul --metric time --memory-ns 90 --format csv | sed -n 1,2p
isaprobe power --machine scc --describe >"$T/scc"
isaprobe power --machine "$T/scc" --describe | diff "$T/scc" - && echo same
