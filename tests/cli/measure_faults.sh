# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Only rows with a reason: exit 1.
isaprobe measure --timer sim:tests/data/skl.sim ud2
