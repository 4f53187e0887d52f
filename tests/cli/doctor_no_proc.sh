# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Recorded where there was no /proc: what it would have told is unknown, and said to be.
cp -r tests/data/host/vm "$T/bare"
chmod -R u+w "$T/bare"
rm -r "$T/bare/proc"
isaprobe doctor --root "$T/bare" | grep -A 1 '^tsc\|^cpus\|^hypervisor'
