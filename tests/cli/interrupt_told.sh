# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Whatever measures says how far it came when a signal ends it. It waits for its CPU's description, so that the
# signal comes before anything is measured.
mkfifo "$T/sim"
told() {
    isaprobe "$@" -t "sim:$T/sim" >"$T/out" &
    # Opens when it is there.
    exec 9>"$T/sim"
    kill -s TERM $!
    sleep 0.2
    exec 9>&-
    wait $!
    echo "exit $?: $1"
}
told portmap
told core --no-store
told ports "imul r64, r64" "add r64, r64"
told ports "imul r64, r64"
told pair "imul r64, r64" "add r64, r64"
told pair imul "add r64, r64"
told latency "imul r64, r64"
told throughput "imul r64, r64" "add r64, r64"
told portmap -q
