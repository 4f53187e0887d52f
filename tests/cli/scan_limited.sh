# A file that may not grow stands for a full disk: one line, exit 1, nothing lost; with room the same command goes on.
sim=sim:tests/data/store/exact.sim
scan() { isaprobe scan -t $sim -S "$T/cpu.db" -g 2 --no-latency "vpadd*"; }
(
    ulimit -f 200
    scan 2>"$T/err"
)
echo "exit $?, $(wc -l <"$T/err") line: $(grep -c 'no room left' "$T/err")"
stored=$(sqlite3 "$T/cpu.db" 'PRAGMA integrity_check; SELECT count(*) > 0 FROM forms')
echo "$stored" | tr '\n' ' '
scan 2>"$T/err"
echo "exit $?"
sqlite3 "$T/cpu.db" "SELECT count(*) = (SELECT count(*) FROM throughput) FROM forms;
    SELECT outcome FROM runs ORDER BY id DESC LIMIT 1"
[ "$(sqlite3 "$T/cpu.db" 'SELECT count(*) FROM forms')" = "$(isaprobe list 'vpadd*' | tail -n +2 | wc -l)" ] && echo "all forms"
