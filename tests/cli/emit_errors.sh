# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
try() {
    isaprobe emit "$@"
    echo "exit $?" >&2
}
try
try ADDPD
try --shape pair "addpd xmm, xmm"
try --src op9 "addpd xmm, xmm"
try wbinvd
try "movq r64, xmm"
try --via "movq xmm, r64" "movq r64, xmm"
try --src op2 --dst op1 --via "imul r64, r64" "movq r64, xmm"
try --shape branch "addpd xmm, xmm"
try --shape block --hex c3
try --with nop "addpd xmm, xmm"
try --shape throughput --src op1 "addpd xmm, xmm"
try --shape block --not-taken nop
try --hex 90
try "add r64, r64" --path content
try "add r64, m64" --path content
try "add m64, r64" --path content --src op2 --dst flags
try "add r64, r64" --path content --src op1 --dst op1 --via "mov r64, r64"
isaprobe emit "add m64, r64" --path content | head -n 1 >&2
true
