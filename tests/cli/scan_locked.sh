# A second scan is told by whom the store is in use; a reader is served.
sim=sim:tests/data/store/exact.sim
isaprobe scan -t $sim -S "$T/cpu.db" -g 4 -e AVX2 2>"$T/err" &
first=$!
for _ in $(seq 200); do
    [ "$(sqlite3 -readonly "$T/cpu.db" 'SELECT count(*) FROM forms' 2>/dev/null || echo 0)" -gt 0 ] && break
    sleep 0.05
done
isaprobe scan -t $sim -S "$T/cpu.db" -g 4 -e AVX2 2>&1 | sed "s/process $first/process FIRST/"
echo "exit ${PIPESTATUS[0]}"
isaprobe show -S "$T/cpu.db" "vbroadcasti128 ymm, m128" | head -1
{ kill -s KILL $first; wait $first; } 2>/dev/null # the shell says that it was killed
isaprobe scan -q -t $sim -S "$T/cpu.db" --no-latency "imul r64, r64"
echo "exit $?"
