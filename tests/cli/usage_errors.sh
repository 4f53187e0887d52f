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
# What would be passed over.
echo 90 >"$T/list"
try measure -t sim:tests/data/skl.sim -l "$T/list" --syntax att
try measure -t sim:tests/data/skl.sim -l "$T/list" --symbol main
try measure -t sim:tests/data/skl.sim -l "$T/list" --address 1-2
try measure -t sim:tests/data/skl.sim --hex 90 --syntax att
try measure -t sim:tests/data/skl.sim --object "$T/list" --syntax objdump
try emit --shape throughput --path content "mov r64, m64"
try emit --shape block --registers 2 nop
try emit --shape pair --registers 2 --with nop "add r64, r64"
try list --coverage --count
try list --verbose --count
try core --no-store --store "$T/x.db" --only no_such
try validate --mca none --mca-cpu native "$T/list"
try doctor --record "$T/samples"
try predict --record "$T/samples" nop
try validate --no-measure --record "$T/samples" "$T/list"
try --completion tcsh
try --completion bash zsh
try help list show
try scan --list - --isa - </dev/null
try list nop --isa - --isa - </dev/null
try compare - - </dev/null
try power --machine - --kernel - </dev/null
try help --help list
true
