# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# One clear line for each thing that can be wrong with a block, a file or a store.
isaprobe scan -q -t sim:tests/data/store/exact.sim -S "$T/cpu.db" --no-latency "imul r64, r64"
store="$T/cpu.db"
attempt() {
    echo "\$ predict $*" | sed "s#$T#@T@#g"
    isaprobe predict "$@" 2>&1
    echo "exit $?"
}
attempt -S "$store"
attempt -S "$store" --hex 480f
attempt -S "$store" --hex 4801d8488b
attempt -S "$store" --hex 4801d
attempt -S "$store" 'add rax, rbx; imol rax, rbx'
attempt -S "$store" --syntax att 'frob %rax'
printf '# LLVM-MCA-BEGIN a\nnop\n# LLVM-MCA-END\n# LLVM-MCA-BEGIN b\nnop\n# LLVM-MCA-END\n' >"$T/two.s"
attempt -S "$store" --syntax att --file "$T/two.s"
attempt -S "$store" --syntax objdump 'add rax, rbx'
attempt -S "$store" ''
ISAPROBE_NASM=false attempt -S "$store" 'nop'
ISAPROBE_NASM=$(type -P false) attempt -S "$store" 'nop'
ISAPROBE_AS=/nowhere/as attempt -S "$store" --syntax att 'nop'
: >"$T/empty.db"
attempt -S "$T/empty.db" 'add rax, rbx'
attempt -S "$T/absent.db" 'add rax, rbx'
cp "$store" "$T/bare.db"
sqlite3 "$T/bare.db" 'DELETE FROM forms'
attempt -S "$T/bare.db" 'add rax, rbx'
cp "$store" "$T/newer.db"
sqlite3 "$T/newer.db" 'PRAGMA user_version = 99'
attempt -S "$T/newer.db" 'add rax, rbx'
head -c 3000 /dev/zero | tr '\0' x >"$T/no.elf"
attempt -S "$store" --object "$T/no.elf"
attempt -S "$store" --object "$T/absent.o"
truncate -s 100M "$T/large"
attempt -S "$store" --file "$T/large"
attempt -S "$store" --object "$T/large"
printf 'nop\n' | as --64 -o "$T/nop.o" -
attempt -S "$store" --object "$T/nop.o"
attempt -S "$store" "$T/nop.o"
attempt -S "$store" --file "$T/nop.o"
attempt -S "$store" --syntax att "$T/nop.o"
attempt -S "$store" --object "$T/nop.o" --symbol main
attempt -S "$store" --object "$T/nop.o" --address 10
attempt -S "$store" --object "$T/nop.o" --address 10-20
head -c 200 "$T/nop.o" >"$T/cut.o"
attempt -S "$store" --object "$T/cut.o"
attempt -S "$store" --svg /nowhere/x.svg 'imul rax, rbx'
