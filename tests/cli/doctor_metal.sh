# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
isaprobe doctor --root tests/data/host/metal
