# Port usage and the port map in the store; a later scan and `ports` take the map from there.
sim=sim:tests/data/skl.sim
isaprobe scan -t $sim -S "$T/cpu.db" --parts ports "imul r64, r64" "vdpps xmm, xmm, xmm, imm8" ud2
isaprobe show -S "$T/cpu.db" imul | grep -v measured | sed "s/ in .*//"
sqlite3 "$T/cpu.db" "SELECT syntax, parts, status FROM forms; SELECT usage, uops, verdict FROM ports;
    SELECT ports, kind FROM port_classes ORDER BY kind, width, ports; SELECT id, names, run_id FROM portmap"
# The map of the first run serves: what is not in it any more is not found.
sqlite3 "$T/cpu.db" "UPDATE portmap SET names = 'ABCDEF';
    UPDATE port_classes SET ports = replace(replace(replace(ports, '0', 'A'), '1', 'B'), '2', 'C')"
isaprobe scan -q -t $sim -S "$T/cpu.db" --parts throughput,ports "mulx r64, r64, r64"
isaprobe show -S "$T/cpu.db" mulx --format json | tr ',' '\n' | grep -E 'ports"|verdict"'
isaprobe ports -t $sim -S "$T/cpu.db" "imul r64, r64" --format csv | cut -d, -f 1-4
isaprobe scan -t $sim -S "$T/cpu.db" --parts ports,frob imul
echo "exit $?"
# Units: a later scan calls them by the same names.
isaprobe scan -q -t $sim -S "$T/units.db" --parts ports "divpd xmm, xmm"
isaprobe scan -q -t $sim -S "$T/units.db" --parts ports "sqrtpd xmm, xmm" "div r64"
sqlite3 "$T/units.db" "SELECT syntax, unit, round(unit_cycles) FROM ports p JOIN forms f ON f.id = p.form_id ORDER BY syntax"
isaprobe show -S "$T/units.db" sqrtpd | grep unit
isaprobe show -S "$T/units.db" div --format json | tr ',' '\n' | grep -E 'unit"'
# What rename does becomes facts about the core.
isaprobe scan -q -t $sim -S "$T/units.db" --parts ports "mov r64, r64" "pxor xmm, xmm" "paddd xmm, xmm"
sqlite3 "$T/units.db" "SELECT key, CASE WHEN key LIKE 'idiom%' THEN value ELSE value < 0.5 END, how FROM core"
isaprobe show -S "$T/units.db" mov pxor paddd | grep -E "^[a-z]|rename"
isaprobe show -S "$T/units.db" --format json mov pxor | sed 's/.*"eliminated/"eliminated/'
