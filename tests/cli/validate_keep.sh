# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# --keep: earlier measurements go only when there are others in their place.
sim=sim:tests/data/skl.sim
isaprobe scan -q -t $sim -S "$T/cpu.db" --parts throughput "imul r64, r64" "add r64, r64"
printf '480fafc3\n4801c8\n' >"$T/blocks"
keep() {
    isaprobe validate -q -t $sim -S "$T/cpu.db" --mca none "$@" "$T/blocks" >"$T/rows"
    echo "exit $?, $(ls -A "$T/kept")"
}
mkdir "$T/kept"
kept=$T/kept/kk
keep --keep "$kept"
cut -d, -f 1,2,6 "$kept"
cp "$kept" "$T/same"
echo "--- nothing to keep"
keep --no-measure --keep "$kept"
cmp "$kept" "$T/same"
keep --no-measure --measured "$T/same" --keep "$T/kept/none/x"
sed 's/.*/90/' "$T/blocks" >"$T/others" # blocks that nobody measured
isaprobe validate -q -S "$T/cpu.db" --mca none --no-measure --measured "$T/same" --keep "$kept" "$T/others" >"$T/rows"
echo "exit $?"
cmp "$kept" "$T/same"
echo "--- what is there keeps its name, its rights and its links"
chmod 640 "$kept"
ln -s kk "$T/kept/link"
keep --measured "$kept" --keep "$T/kept/link"
cmp "$kept" "$T/same"
stat -c "%A %N" "$kept" "$T/kept/link" | sed "s#$T#@T@#g"
keep --no-measure --measured "$kept" --keep /dev/stdout
tail -n 1 "$T/rows" | cut -d, -f 1,2
mkfifo "$T/pipe"
wc -l <"$T/pipe" >"$T/lines" &
keep --no-measure --measured "$kept" --keep "$T/pipe"
wait
cat "$T/lines"
echo "--- a file that grows: blocks that are left out, or not drawn, stay in it"
cp "$kept" "$T/kept/grows"
printf '4801d8\n' >"$T/blocks"
keep --measured "$T/kept/grows" --keep "$T/kept/grows"
cut -d, -f 1,2 "$T/kept/grows"
tail -n +4 "$T/kept/grows" | cmp - <(tail -n +2 "$kept")
printf '4801d8\n480fafc3\n4801c8\n' >"$T/blocks"
cp "$T/kept/grows" "$T/grown"
keep --sample 40 --seed 1 --measured "$T/kept/grows" --keep "$T/kept/grows"
sed -n 's/^loop: \([^,]*\),.*/\1/p' "$T/rows"
cmp <(sort "$T/kept/grows") <(sort "$T/grown")
sed -i 's/$/\r/' "$T/grown"
keep --measured "$T/grown" --keep "$T/kept/grows"
keep --sample 40 --seed 1 --measured "$T/grown" --keep "$T/kept/sampled"
cmp <(sort "$T/kept/grows") <(sort "$T/kept/sampled")
rm "$T"/kept/grows "$T"/kept/sampled
echo "--- a signal before anything was measured"
yes 480fafc34801c8 | head -n 100000 >"$T/list"
mkfifo "$T/sim"
for measured in "" "--measured $kept"; do
    # It waits for its CPU's description: nothing can be measured before that is there.
    # shellcheck disable=SC2086
    isaprobe validate -t "sim:$T/sim" -S "$T/cpu.db" --mca none $measured --keep "$kept" "$T/list" >"$T/rows" &
    exec 9>"$T/sim" # opens when it is there
    kill -s TERM $!
    sleep 0.2
    exec 9>&-
    wait $!
    echo "exit $?, $(ls -A "$T/kept")"
    cmp "$kept" "$T/same"
done
