# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The sweep on a copy of a recorded tree: what is missing, what cannot be written, and how every end restores.
freq=$T/tree/sys/devices/system/cpu/cpu0/cpufreq
fresh() {
    rm -rf "$T/tree"
    cp -r tests/data/power/ryzen "$T/tree"
}
# await WHAT VALUE: for up to 10 s, until the command WHAT prints VALUE; what it printed last.
await() {
    local got
    for ((i = 0; i < 1000; i++)); do
        got=$($1)
        [[ $got != "$2" ]] || break
        sleep 0.01
    done
    echo "$got"
}
settings() {
    echo "$(<"$freq/scaling_governor") $(<"$freq/scaling_min_freq") $(<"$freq/scaling_max_freq")"
}
# After SIGKILL the guard restores by itself, in its own time.
state() {
    echo "$1: exit $2, $(await settings "ondemand 2200000 3600000")"
}
fresh
# Its energy counter stands still.
isaprobe power --calibrate --root "$T/tree"
state "no energy" $?
# A shell ignores SIGINT for what it starts in the background: env gives it back.
for signal in INT TERM HUP KILL; do
    env --default-signal=INT isaprobe power --quiet --calibrate --root "$T/tree" &
    await settings "ondemand 3600000 3600000"
    kill -$signal $!
    wait $! 2>/dev/null
    state $signal $?
done
# A counter that moves, and a clock that nobody tells: what comes out is a machine's file.
fresh
rm "$freq/scaling_cur_freq"
rapl=$T/tree/sys/class/powercap/intel-rapl:0
for ((uj = 1000000; ; uj += 100000)); do
    echo $uj >"$rapl/new"
    mv "$rapl/new" "$rapl/energy_uj"
    sleep 0.01
done &
isaprobe power --quiet --calibrate --root "$T/tree" --output "$T/machine"
state "energy" $?
kill $!
wait $! 2>/dev/null
sed 's/[0-9.]* W$/N W/' "$T/machine"
isaprobe power --quiet --machine "$T/machine" --describe | diff "$T/machine" -
fresh
# Not ours to write; root may write anything unless it gives that up.
chmod a-w "$freq/scaling_max_freq"
drop=()
((EUID != 0)) || drop=(setpriv --bounding-set=-all)
"${drop[@]}" isaprobe power --calibrate --root "$T/tree"
state "not writable" $?
isaprobe power --calibrate --root tests/data/power/vm
echo "exit $?"
isaprobe power --calibrate --root tests/data/power/server --cpu 1023
echo "exit $?"
