# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# One line each, exit 2, nothing on stdout.
try() {
    isaprobe "$@"
    echo "exit $?" >&2
}
try
try frobnicate
try --frob
try help frobnicate
try latency
try latency --format yaml ADDPD
try latency --frob ADDPD
try latency -Z ADDPD
try latency --cpu
try latency --cpu x ADDPD
try latency --cpu -1 ADDPD
try latency --cpu 99999999999999999999 ADDPD
try latency --output= ADDPD
try latency --quiet=yes ADDPD
try pair ADDPD
try pair a b c
try doctor ADDPD
try throughput --registers 0 ADDPD
try throughput --unroll 1x ADDPD
try emit --shape triangle ADDPD
try measure
try measure --hex 90 nop
try measure --hex-list x --hex 90
try list --store x addpd
try predict --symbol main nop
try export --exegesis-mode uops
try power --machine scc --kernel dot --code x
try --completion tcsh
try --completion bash zsh
try help list show
try help --help list
true
