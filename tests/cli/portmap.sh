# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
isaprobe portmap --timer sim:tests/data/skl.sim
isaprobe portmap --quiet --timer sim:tests/data/skl.sim --format csv | head -n 3 | rounded
isaprobe portmap --quiet --timer sim:tests/data/skl.sim --format json | tail -n 1 | rounded
# Nothing to find ports with: every kernel fails.
isaprobe portmap --quiet --timer sim:tests/data/hopeless.sim
echo "exit $?"
