# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
isaprobe power --machine scc --kernel dot
isaprobe power --machine scc --kernel matmul --metric gflops-per-watt
