# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Two systems of sets explain the port map: what a form's ports are then, in all commands that tell or use them.
sim=sim:tests/data/clusters.sim
forms=("popcnt r64, r64" "movsxd r64, r32" "vpaddd xmm, xmm, xmm" "vpaddd xmm, xmm, m128" "vphaddd xmm, xmm, xmm")
isaprobe portmap -q -t $sim | awk '{print $1, $NF}'
isaprobe ports -q -t $sim --format csv --output "$T/ports.csv" "${forms[@]}"
echo "exit $?"
sed 's/^\("[^"]*",[^,]*,[^,]*\).*,\([^,]*\)$/\1 ... \2/' "$T/ports.csv" | tail -n +2
isaprobe scan -q -t $sim -S "$T/cpu.db" --parts latency,throughput,slots,ports "${forms[@]}"
echo "exit $?"
sqlite3 "$T/cpu.db" "SELECT syntax, status, verdict, usage, uops FROM ports p JOIN forms f ON f.id = p.form_id ORDER BY syntax;
    SELECT ports, alternatives FROM port_classes WHERE kind = 'core' ORDER BY width, ports"
# All is known: nothing is measured again.
isaprobe scan -t $sim -S "$T/cpu.db" --parts ports --retry "${forms[@]}"
isaprobe show -S "$T/cpu.db" vpaddd | grep -E "^v|ports" | sed "s/ in .*//"
isaprobe show -S "$T/cpu.db" --format json popcnt "vpaddd xmm, xmm, xmm" | tr ',' '\n' | grep -E '"ports(_verdict)?"'
# Where there is no room for several there are none of them, or, with doubtful values, the first.
isaprobe export -S "$T/cpu.db" --format csv --output "$T/plain.csv"
isaprobe export -S "$T/cpu.db" --format csv --output "$T/doubtful.csv" --doubtful
for of in plain doubtful; do
    echo "$of: $(grep -o '[0-9]\*p[^,]*' "$T/$of.csv" | sort | tr '\n' ' ')"
done
# A prediction takes the first, and says so.
isaprobe predict -S "$T/cpu.db" "vpaddd xmm0, xmm1, xmm2; movsxd rax, ebx"
echo "exit $?"
isaprobe predict -q -S "$T/cpu.db" "popcnt rax, rbx; movsxd rax, ebx" | grep cycles
