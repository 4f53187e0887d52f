# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
isaprobe doctor --root tests/data/host/vm
isaprobe doctor --root tests/data/host/vm --format csv | tr -d '\r' | tail -n 3
