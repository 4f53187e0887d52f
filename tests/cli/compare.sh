# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Stores and exports against each other: what changed, by form and by extension.
forms=("imul r64, r64" "mov r64, m64" "vpermd ymm, ymm, ymm" "vaddpd ymm, ymm, ymm" "add r64, r64")
isaprobe scan -q --parts latency,throughput,slots,ports -t sim:tests/data/everything.sim -S "$T/a.db" "${forms[@]}" cmc
sed 's/"imul \*" ports 1\*p1 latency 3/"imul *" ports 1*p01 latency 4/; s/"vperm\*" ports 1\*p5 latency 3/"vperm*" ports 1*p5 latency 5/' \
    tests/data/everything.sim >"$T/b.sim"
isaprobe scan -q --parts latency,throughput,slots,ports -t "sim:$T/b.sim" -S "$T/b.db" "${forms[@]}"
shape() { sed -E 's/p[0-9]+/pN/g' | rounded; }
isaprobe compare "$T/a.db" "$T/b.db" | shape
echo "== by class"
isaprobe compare --by-class --format csv "$T/a.db" "$T/b.db" | tr -d '\r'
echo "== the other way, as json"
isaprobe compare -q --format json "$T/b.db" "$T/a.db" | shape
echo "== each export of a store is the same as the store, but for latencies of which a format holds one number"
for format in uopsinfo-xml csv json maqao-lua osaca llvm-sched-json; do
    case $format in
    llvm-*) command -v llvm-mc >"$T/where" || continue ;;
    esac
    isaprobe export -q -S "$T/a.db" --format $format -o "$T/a.$format"
    isaprobe compare -q "$T/a.db" "$T/a.$format"
    tr -d '\r' <"$T/a.$format" | sed 's/$/\r/' >"$T/cr.$format"
    isaprobe compare -q --tolerance 0 "$T/a.$format" "$T/cr.$format" # lines end in CR LF, or not
done
echo "== with no tolerance"
isaprobe compare -q --tolerance 0 "$T/a.csv" "$T/a.uopsinfo-xml"
echo "== a table of uops.info"
printf 'instruction,extension,latency,throughput_measured,slots,ports\r\n"IMUL (R64, R64)",BASE,[3;\xe2\x89\xa47],1.00,1,1*p1\r\n"ADD_01 (R64, R64)",BASE,2,0.25,,\r\n"NONE (R64)",BASE,,,,\r\n' >"$T/u.csv"
isaprobe compare "$T/u.csv" "$T/a.db" | rounded
echo "== one architecture of a file of several"
value() { printf '<architecture name="%s"><measurement TP_loop="%s"><latency start_op="1" target_op="1" cycles="%s"/></measurement></architecture>\n' "$@"; }
printf '<root><instruction string="IMUL (R64, R64)">\n%s\n%s</instruction></root>\n' "$(value NHM 1.00 7)" "$(value ZEN4 5.00 3)" >"$T/u.xml"
isaprobe compare "$T/u.xml" "$T/a.db" || echo "exit $?"
isaprobe compare --arch SKL "$T/u.xml" "$T/a.db" || echo "exit $?"
isaprobe compare -q --arch nhm "$T/u.xml" "$T/a.db" | rounded
isaprobe compare -q --arch ZEN4 "$T/u.xml" "$T/a.db" | rounded
echo "== a least and a greatest latency of uops.info's, of which the least is compared, and its flags"
printf '<root><instruction string="IMUL (R64, R64)"><operand idx="3" suppressed="1" type="flags" w="1"/>\n%s%s%s</instruction></root>\n' \
    '<architecture name="NHM"><measurement><latency start_op="1" target_op="1" min_cycles="3" max_cycles="7"/>' \
    '<latency start_op="2" target_op="1" min_cycles="5" max_cycles="7"/>' \
    '<latency start_op="2" target_op="3" cycles="9"/></measurement></architecture>' >"$T/range.xml"
isaprobe compare -q "$T/range.xml" "$T/a.db" | rounded
echo "== two architectures of one file"
isaprobe compare -q --arch nhm,ZEN4 "$T/u.xml" "$T/u.xml"
isaprobe compare -q --arch NHM,ZEN4 "$T/u.xml" "$T/a.db" | rounded
isaprobe compare --arch NHM,SKL "$T/u.xml" "$T/u.xml" || echo "exit $?"
for bad in 'NHM,' ',NHM' 'NHM,SKL,ZEN4' "$(printf '%0200d' 0)"; do
    isaprobe compare --arch "$bad" "$T/u.xml" "$T/u.xml" || echo "exit $?"
done
echo "== a table of an AMD, which names its pipes and no other port"
head='instruction,extension,latency,throughput_measured,slots,ports'
printf '%s\n"AESENC (XMM, M128)",AES,,0.50,1,1*FP01\n"AESIMC (XMM, XMM)",AES,,0.50,1,1*FP12\n' $head >"$T/p.csv"
printf '%s\n"AESENC (XMM, M128)",AES,,0.50,1,1*p89+1*p01\n"AESIMC (XMM, XMM)",AES,,0.50,1,1*p1\n' $head >"$T/q.csv"
isaprobe compare -q "$T/p.csv" "$T/q.csv"
echo "== nothing has changed: of an earlier file, and of a pipe"
isaprobe compare -q --format csv -o "$T/changes.csv" "$T/a.db" "$T/b.db"
isaprobe compare -q --format csv -o "$T/changes.csv" "$T/a.csv" <(cat "$T/a.csv")
tr -d '\r' <"$T/changes.csv"
isaprobe compare -q -o "$T/changes.csv" "$T/a.csv" "$T/a.csv"
wc -c <"$T/changes.csv"
