# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# How many kernels depends on what Zydis knows of forms.
isaprobe portmap --timer sim:tests/data/skl.sim 2>"$T/err"
sed 's/from [0-9]* kernels/from N kernels/' "$T/err" >&2
isaprobe portmap --quiet --timer sim:tests/data/skl.sim --format csv | head -n 3 | rounded
isaprobe portmap --quiet --timer sim:tests/data/skl.sim --format json | tail -n 1 | rounded
# Nothing to find ports with: every kernel fails.
isaprobe portmap --quiet --timer sim:tests/data/hopeless.sim
echo "exit $?"
