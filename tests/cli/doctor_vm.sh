# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What libcpuid calls a CPU changes with its version.
isaprobe doctor --root tests/data/host/vm | sed 's/libcpuid takes it for .*/libcpuid takes it for NAME/'
isaprobe doctor --root tests/data/host/vm --format csv | tr -d '\r' | tail -n 3
# QEMU without KVM.
cp -r tests/data/host/vm "$T/emulated"
printf 'TCGTCGTCGTCG' >"$T/emulated/hypervisor"
isaprobe doctor --root "$T/emulated" | grep -A 1 '^hypervisor'
