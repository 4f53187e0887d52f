# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What libcpuid calls a CPU changes with its version.
isaprobe doctor --root tests/data/host/metal | sed 's/libcpuid takes it for .*/libcpuid takes it for NAME/'
