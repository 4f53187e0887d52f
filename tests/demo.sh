#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `make demo`: what this machine is, and a few measurements. Shows each command before it runs it.
#   tests/demo.sh PROGRAM
isaprobe=$1
worst=0
show() {
    echo
    printf '$ isaprobe'
    for word in "$@"; do
        case $word in
        *\ *) printf ' "%s"' "$word" ;;
        *) printf ' %s' "$word" ;;
        esac
    done
    echo
    "$isaprobe" "$@"
    status=$?
    # 4: measured but not to be trusted, as on a machine with a busy neighbour. Shown, and no failure of the demo.
    if [ $status -ne 0 ] && [ $status -ne 4 ]; then
        echo "(exit $status)"
        worst=1
    fi
}
show doctor
show latency ADDPD
show latency "imul r64, r64"
show throughput "add r64, r64" "imul r64, r64" ADDPD
show pair "imul r64, r64" "popcnt r64, r64"
exit $worst
