# What is read several times (here for its length) is in the store from the first reading on. A signal before the others leaves
# it there, not as known: the same command reads it again.
sed 's/latency 2$/latency 30/' tests/data/store/exact.sim >"$T/long.sim"
scan() { isaprobe scan -q -t "sim:$T/long.sim" -S "$T/cpu.db" -g 4 -e FMA -e AVX2; }
isaprobe scan -t "sim:$T/long.sim" -S "$T/cpu.db" -g 4 -e FMA -e AVX2 2>"$T/err" &
for _ in $(seq 200); do
    [ "$(sqlite3 -readonly "$T/cpu.db" "SELECT count(*) FROM forms" 2>/dev/null || echo 0)" -gt 0 ] && break
    sleep 0.05
done
kill -s TERM $!
wait $!
echo "exit $?"
sed -E 's/[1-9][0-9]* left/N left/; s/[1-9][0-9]* of them/N of them/' "$T/err"
sqlite3 "$T/cpu.db" "SELECT 'all are read once', min(parts), max(parts), min(status), max(status) FROM forms;
    SELECT 'with their latencies', min(round(cycles)), count(*) > 0 FROM latency WHERE path = 'register' AND cycles IS NOT NULL"
isaprobe show -S "$T/cpu.db" "$(sqlite3 "$T/cpu.db" 'SELECT syntax FROM forms ORDER BY id LIMIT 1')" | grep -v measured
scan
sqlite3 "$T/cpu.db" "SELECT parts, status, count(*) > 200 FROM forms GROUP BY 1, 2"
