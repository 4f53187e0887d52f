# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What is wrong with an argument is said, also where the command gets by without it.
isaprobe scan -q --no-latency -t sim:tests/data/store/exact.sim -S "$T/a.db" "cmc"
echo 4801d8 >"$T/blocks"
attempt() {
    isaprobe "$@" >"$T/out"
    code=$?
    [ -s "$T/out" ] && data=data || data="no data"
    echo "exit $code, $data: $*" | sed "s#$T#@T@#g"
}
attempt predict -S "$T/a.db" -t foo cmc
attempt predict -S "$T/a.db" -t simulated:x cmc
attempt validate -S "$T/a.db" --no-measure -t foo "$T/blocks"
attempt power -m scc -k dot -t foo
attempt doctor -t foo
# No machine has a CPU of that number.
for command in "predict -S $T/a.db cmc" "show -S $T/a.db cmc" "export -S $T/a.db" "list -c" doctor "power -m scc -k dot" \
    "latency -t tsc cmc"; do
    # shellcheck disable=SC2086
    attempt $command --cpu 99999
done
attempt power -m scc -k dot -t tsc --cpu 0
# One value, or a list: never the last of several.
attempt scan -S "$T/a.db" -l "$T/A" -l "$T/B"
attempt measure --hex 4801d8 --hex 4801d9
attempt validate --measured "$T/A" --measured "$T/B" "$T/blocks"
attempt show -S "$T/a.db" --store "$T/b.db" cmc
attempt list --format csv --format json cmc
attempt latency --cpu 0 --cpu 0 cmc
attempt list -v -v --isa /dev/null --isa /dev/null cmc
# Lines that are no hex digits: the others are measured.
printf '4801d8\nxyz\n480\n' >"$T/bad"
attempt measure -q -t sim:tests/data/store/exact.sim -l "$T/bad"
attempt measure -q -t sim:tests/data/store/exact.sim -l - <"$T/bad"
printf 'xyz\n' >"$T/bad"
attempt measure -t sim:tests/data/store/exact.sim -l "$T/bad"
