# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Lists of CPUs with gaps are longer than a line: all of them count.
cp -r tests/data/host/hybrid "$T/many"
chmod -R u+w "$T/many"
printf 'Cpus_allowed_list:\t%s\nMems_allowed_list:\t0\n' "$(seq -s , 0 2 382)" >"$T/many/proc/self/status"
seq -s , 0 2 126 >"$T/many/sys/devices/cpu_core/cpus"
seq -s , 1 2 383 >"$T/many/sys/devices/cpu_atom/cpus"
for cpu in 126 383; do
    isaprobe doctor --root "$T/many" --cpu "$cpu" | grep -A 1 '^cores\|^cpus'
done
