# A signal: the group in hand is stored, the exit status is 128 + n, and the same command goes on.
sim=sim:tests/data/store/exact.sim
isaprobe scan -t $sim -S "$T/cpu.db" -g 4 -e AVX2 2>"$T/err" &
for _ in $(seq 200); do
    [ "$(sqlite3 -readonly "$T/cpu.db" 'SELECT count(*) FROM forms' 2>/dev/null || echo 0)" -gt 0 ] && break
    sleep 0.05
done
kill -s TERM $!
wait $!
echo "exit $?"
sed -E "s#[0-9]+ forms? stored#N forms stored#; s#[0-9]+ left#N left#; s#$T#@T@#" "$T/err"
sqlite3 "$T/cpu.db" 'SELECT outcome FROM runs; SELECT count(*) % 4, count(*) > 0 FROM forms; PRAGMA integrity_check'
ls "$T"
