# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
isaprobe measure --timer sim:tests/data/skl.sim --hex 480
isaprobe measure --timer sim:tests/data/skl.sim --hex 48zz
isaprobe measure --timer sim:tests/data/skl.sim --hex ' '
