# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A command that fails leaves the earlier file as it was: also one that measured, and found nothing (exit 4).
echo precious >"$T/rows"
isaprobe list -o "$T/rows" --isa "$T/absent.isa" addpd
echo "exit $?"
for format in text csv json; do
    isaprobe portmap -t sim:tests/data/hopeless.sim --format "$format" -o "$T/rows"
    echo "exit $?"
done
isaprobe ports -t sim:tests/data/hopeless.sim --format csv -o "$T/rows" "add r64, r64"
echo "exit $?"
cat "$T/rows"
echo "--- and makes no file"
isaprobe list -o "$T/new" --isa "$T/absent.isa" addpd
echo "exit $?"
isaprobe portmap -t sim:tests/data/hopeless.sim --format csv -o "$T/new"
echo "exit $?"
isaprobe power --machine scc --kernel dot --max-time 1e-9 -o "$T/new"
echo "exit $?"
isaprobe doctor --root "$T/nonexistent" -o "$T/new"
echo "exit $?"
isaprobe compare "$T/absent.csv" "$T/absent2.csv" -o "$T/new"
echo "exit $?"
isaprobe scan -q -t sim:tests/data/skl.sim -S "$T/lat.db" --parts latency "add r64, r64"
isaprobe export -S "$T/lat.db" --format osaca -o "$T/new"
echo "exit $?"
isaprobe show -S "$T/lat.db" foo -o "$T/new"
echo "exit $?"
mkfifo "$T/pipe"
cat "$T/pipe" &
isaprobe show -S "$T/lat.db" foo -o "$T/pipe"
echo "exit $?"
wait
ls "$T"
