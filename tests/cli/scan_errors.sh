# One line each, the exit status that docs/store.md names, and the store as it was.
sim=sim:tests/data/store/exact.sim
db=$T/cpu.db
isaprobe scan -q -t $sim -S "$db" --no-latency "imul r64, r64"
try() {
    local before after
    before=$(cksum <"$db")
    "$@" 2>&1 | sed -E 's/content [0-9a-f]{16}/content HASH/g'
    after=$(cksum <"$db")
    [ "$before" = "$after" ] || echo "the store has changed"
}
code() { "$@"; local status=$?; echo "status $status"; }
try code isaprobe scan -t sim:tests/data/skl.sim -S "$db" "imul r64, r64"
try code isaprobe scan -t $sim -S "$db" --extension NONE
try code isaprobe scan -t $sim -S "$db" --extension AVX2 "imul r64, r64"
try code isaprobe scan -t $sim -S "$db" --no-latency --no-throughput
try code isaprobe scan -t $sim -S "$db" --parts slots --no-throughput
try code isaprobe scan -t $sim -S "$db" --parts latency --no-latency
try code isaprobe scan -t $sim -S "$db" --list /nowhere
printf 'imul r64, r64\nimull\n' >"$T/list"
try code isaprobe scan -t $sim -S "$db" --list "$T/list"
printf 'imul r64, r64\n\0\nnonsense\n' >"$T/list"
try code isaprobe scan -t $sim -S "$db" --list "$T/list"
: >"$T/list"
try code isaprobe scan -t $sim -S "$db" --list "$T/list"
try code isaprobe scan -t $sim -S "$db" --list - <"$T/list"
printf '\357\273\277imul r64, r64\n' >"$T/list"
code isaprobe scan -q -t $sim -S "$T/marked.db" --list "$T/list"
rm "$T"/marked.db*
try code isaprobe show -S "$db" addpd
try code isaprobe show -S "$T/none.db" addpd
sqlite3 "$db" 'PRAGMA user_version = 99'
try code isaprobe scan -t $sim -S "$db" "imul r64, r64"
try code isaprobe show -S "$db" "imul r64, r64"
head -c 5000 /dev/zero >"$db"
try code isaprobe scan -t $sim -S "$db" "imul r64, r64"
try code isaprobe scan -t $sim -S "$T/no/such/cpu.db" "imul r64, r64"
HOME='' XDG_DATA_HOME='' code isaprobe scan -t $sim "imul r64, r64" 2>&1
ls "$T"
echo "--- no place for a store"
isaprobe scan -t sim:tests/data/skl.sim -S /dev/null "add r64, r64" 2>&1
echo "exit $?"
ls /dev/null-* 2>/dev/null
isaprobe show -S tests/data add 2>&1
echo "exit $?"
