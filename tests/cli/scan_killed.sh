# Killed at fifty random moments, with forms measured one by one, in pairs or all together: the store is whole each time and keeps each
# form that it had and that needs no other readings (`mul r64` does, which waits for itself here), which is not measured again; in the end it holds what a scan in one go gives. The delays are random by
# a fixed seed; what counts does not depend on when they strike.
sim=sim:tests/data/store/exact.sim
printf '%s\n' "imul r64, r64" "add r64, r64" "mul r64" "popcnt r64, r64" "vpaddd ymm, ymm, ymm" \
    "vpaddd xmm, xmm, m128" "vaddpd ymm, ymm, ymm" "sub r64, r64" "cmovz r64, r64" "lea r64, agen" "sysret" \
    "vpshufb xmm, xmm, xmm" "addpd xmm, xmm" "mov r64, m64" "xor r64, r64" "shl r64, imm8" >"$T/list"
scan() { isaprobe scan -q -t $sim -S "$1" -g 2 --list "$T/list"; }
# Kernels of first readings that a killed scan replaced wait for the end of the next one that measures.
content() {
    sqlite3 "$1" "SELECT f.syntax, f.status, f.why, f.parts, l.src, l.dst, l.path, round(l.cycles, 3), l.bound, l.verdict,
        l.via, l.why, ls.kernel_id, round(t.cycles, 3), t.how, t.registers, ts.kernel_id
        FROM forms f LEFT JOIN latency l ON l.form_id = f.id LEFT JOIN statistics ls ON ls.id = l.statistic_id
        LEFT JOIN throughput t ON t.form_id = f.id LEFT JOIN statistics ts ON ts.id = t.statistic_id
        ORDER BY f.syntax, l.position; SELECT name, reads, writes, implicit, bits, syntax FROM operands
        JOIN forms ON id = form_id ORDER BY syntax, position; SELECT count(*) FROM statistics;
        SELECT id, hex(unit) FROM kernels WHERE id IN (SELECT kernel_id FROM statistics) ORDER BY id"
}
scan "$T/whole.db"
content "$T/whole.db" >"$T/whole"
RANDOM=20140
kills=0 stores=0
while [ $kills -lt 50 ]; do
    rm -f "$T"/cpu.db*
    stores=$((stores + 1))
    : >"$T/before"
    while [ $kills -lt 50 ]; do
        # Not by the function: that would be a shell of its own, which would be killed instead. Who is killed while a
        # sanitizer looks for leaks leaves words of the sanitizer behind.
        ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0 isaprobe scan -q -t $sim -S "$T/cpu.db" -g $((kills % 3 == 2 ? 32 : 1 + kills % 3)) --list "$T/list" &
        sleep "0.$(printf %03d $((RANDOM % 350)))"
        kill -s KILL $! 2>/dev/null
        # Who had ended before was not killed.
        { wait $!; } 2>/dev/null
        [ $? -eq 137 ] || break
        kills=$((kills + 1))
        [ -s "$T/cpu.db" ] || continue
        sqlite3 "$T/cpu.db" 'SELECT id, syntax, run_id FROM forms WHERE parts <> 0 ORDER BY syntax' 2>/dev/null | LC_ALL=C sort >"$T/now"
        [ "$(sqlite3 "$T/cpu.db" 'PRAGMA integrity_check')" = ok ] || echo "damaged by kill $kills"
        LC_ALL=C comm -23 "$T/before" "$T/now" | sed "s/^/kill $kills lost or repeated: /"
        mv "$T/now" "$T/before"
    done
    scan "$T/cpu.db"
    content "$T/cpu.db" | diff "$T/whole" - | head -n 5 | grep . && echo "store $stores differs"
done
echo "$kills kills"
rm -f "$T"/cpu.db.lock
