# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
isaprobe --version | sed 's/[0-9]\+\.[0-9]\+\.[0-9]\+/X.Y.Z/'
