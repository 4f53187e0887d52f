# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A signal ends it with 128 + its number, in silence, and nothing is left (the runner looks). Jobs of a
# non-interactive shell ignore SIGINT, so a trap-free child of `env` is asked to take its default again.
for signal in INT TERM; do
    mkfifo "$T/$signal"
    exec 9<>"$T/$signal"
    env --default-signal=INT isaprobe measure - <"$T/$signal" &
    sleep 0.3
    kill -s $signal $!
    wait $!
    echo "exit $?"
    exec 9>&-
done
