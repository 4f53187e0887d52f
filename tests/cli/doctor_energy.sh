# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The energy counter is the one that `power --calibrate` would read: of the package's zone, whatever its number, and
# readable.
tree() {
    cp -r tests/data/host/metal "$T/$1"
    chmod -R u+w "$T/$1"
    zones=$T/$1/sys/class/powercap
}
energy() {
    echo "$1:"
    isaprobe doctor --root "$T/$1" | grep -A 1 '^energy'
    isaprobe power --calibrate --root "$T/$1" 2>&1 | grep -o 'no energy counter\|the energy counter.*' || echo '(counts)'
}
tree unreadable
rm "$zones/intel-rapl:0/energy_uj"
energy unreadable
tree psys
echo psys >"$zones/intel-rapl:0/name"
energy psys
tree second
mv "$zones/intel-rapl:0" "$zones/intel-rapl:1"
energy second
