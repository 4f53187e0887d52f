# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What is to be written is never what is read, another output, or a store: exit 2, and every file stays as it was.
sim=sim:tests/data/store/exact.sim
cd "$T" || exit
mkdir tests
ln -s "$OLDPWD/tests/data" tests/data
isaprobe scan -q --no-latency -t $sim -S b.db cmc
cp b.db c.db
ln b.db hard.db
ln -s b.db soft.db
echo 4801d8 >bl.csv
echo 'add rax, rbx' >f.s
echo cmc >forms
cp tests/data/store/exact.sim own.sim
echo 'cmc' >own.isa
head -c 4096 b.db >default.db # any SQLite file, named by no other option
sha256sum ./*.* forms >before
refused() {
    isaprobe "$@"
    code=$?
    [ $code -eq 2 ] || echo "exit $code: $*"
}
refused show -S b.db -o b.db cmc
refused show -S b.db -o ./hard.db cmc
refused show -S soft.db -o "$T/b.db" cmc
refused show -S b.db -o default.db cmc
refused list -o default.db cmc
refused export -S b.db --format csv -o b.db
refused core -t $sim -S b.db -o b.db --only issue
refused core -t $sim -S new.db -o ./new.db --only issue
refused core -t $sim -S b.db --record b.db --only issue
refused predict -S b.db 'add rax, rbx' --svg b.db
refused predict -S b.db 'add rax, rbx' --svg x.svg -o "$T/x.svg"
refused predict -S b.db 'add rax, rbx' --svg -
refused scan -t $sim -S b.db --record b.db cmc
refused scan -t $sim -S b.db --record forms -l forms
refused compare b.db c.db -o c.db
refused portmap -t $sim --record b.db
refused ports -t $sim --isa own.isa -o own.isa cmc
refused throughput -t sim:own.sim -o own.sim cmc
refused latency -t $sim --record r1 -o r1 cmc
refused latency -t replay:bl.csv --record bl.csv cmc
refused measure -l bl.csv -o bl.csv
refused measure -f f.s -o f.s
refused emit -s block -f f.s -o f.s
refused validate bl.csv -o bl.csv
refused validate bl.csv --keep bl.csv
refused validate -S b.db bl.csv --keep b.db
refused power -m scc -c f.s -o f.s
sha256sum --quiet -c before
find r1 x.svg new.db ./- 2>&1
# What is no file of the user's may be named twice, and a file of a built-in's name is no input.
isaprobe show -S b.db -o /dev/null cmc
isaprobe throughput -q -t $sim --record /dev/null -o /dev/null cmc
isaprobe power -m scc -k dot -o dot
isaprobe power -m scc -k dot -o dot
isaprobe emit -s block -f - -o block.asm <f.s
test -s block.asm
