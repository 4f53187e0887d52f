# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What permissions forbid is exit 3, of whatever command, and not a failure (1).
drop=()
((EUID != 0)) || drop=(setpriv --bounding-set=-all)
mkdir "$T/closed"
echo "add rax, rbx" >"$T/block"
cp tests/data/skl.sim "$T/closed.sim"
chmod 000 "$T/block" "$T/closed.sim"
chmod 500 "$T/closed"
refused() {
    "${drop[@]}" isaprobe "$@" >"$T/out" 2>"$T/err"
    echo "exit $?"
    sed "s#$T#@T@#g" "$T/err"
}
refused measure --file "$T/block"
refused validate "$T/block"
refused scan --list "$T/block"
refused compare "$T/block" "$T/block"
refused list --isa "$T/block" add
refused latency -t "sim:$T/closed.sim" add
refused list --output "$T/closed/rows" add
refused latency -t sim:tests/data/skl.sim --record "$T/closed/samples" "add r64, r64"
refused doctor --save "$T/closed/host"
refused scan -t sim:tests/data/skl.sim -S "$T/closed/a.db" add
chmod 700 "$T/closed"
ls "$T/closed"
