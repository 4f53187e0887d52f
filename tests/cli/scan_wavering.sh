# What is read several times (here for its length) is in the store from the first reading on. A signal before the others leaves
# it there, not as known: the same command reads it again. What the store knew already, --force replaces when all readings are there.
sed -E 's/^(form "v\*".*) latency 2$/form "vextracti128 *" ports 1*p015 latency 2\n\1 latency 30/' tests/data/store/exact.sim >"$T/long.sim"
scan="isaprobe scan -t sim:$T/long.sim -S $T/cpu.db -g 4 -e FMA -e AVX2"
# interrupted QUERY [OPTION...]: a scan that is interrupted once the query's result is not empty.
interrupted() {
    local query=$1
    shift
    $scan "$@" 2>"$T/err" &
    for _ in $(seq 200); do
        [ -n "$(sqlite3 -readonly "$T/cpu.db" "$query" 2>/dev/null)" ] && break
        sleep 0.05
    done
    kill -s TERM $!
    wait $!
    echo "exit $?"
    sed -E 's/[0-9]+ forms? stored/N forms stored/; s/[1-9][0-9]* left/N left/; s/[1-9][0-9]* of them/N of them/' "$T/err"
}
interrupted 'SELECT 1 FROM forms LIMIT 1'
sqlite3 "$T/cpu.db" "SELECT 'all are read once', min(parts), max(parts), min(status), max(status) FROM forms
        WHERE syntax NOT LIKE 'vextracti128%';
    SELECT 'with their latencies', min(round(cycles)), count(*) > 0 FROM latency JOIN forms ON id = form_id
        WHERE path = 'register' AND cycles IS NOT NULL AND syntax NOT LIKE 'vextracti128%'"
isaprobe show -S "$T/cpu.db" "$(sqlite3 "$T/cpu.db" 'SELECT syntax FROM forms ORDER BY id LIMIT 1')" | grep -v measured
$scan -q
sqlite3 "$T/cpu.db" "SELECT parts, status, count(*) > 200 FROM forms GROUP BY 1, 2; UPDATE throughput SET cycles = 99"
# The first group has forms that are read again, the second one that is not.
interrupted "SELECT 1 FROM forms WHERE syntax = 'vextracti128 xmm, ymm, imm8' AND run_id = 3" --force
sqlite3 "$T/cpu.db" "SELECT syntax, printf('%.4f', cycles), parts FROM forms JOIN throughput ON form_id = id ORDER BY id LIMIT 5"
