# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Copies that hide behind the loop's own cycle are no measurement.
isaprobe measure -q --timer sim:tests/data/skl.sim --unroll 1 'lea rax, [rbx]' | tail -n 1
echo "exit ${PIPESTATUS[0]}"
isaprobe measure -q --timer sim:tests/data/skl.sim --unroll 2 'lea rax, [rbx]' | tail -n 1
