# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Blocks of a few words that would keep an assembler busy for hours, or want all memory: one line each, and nothing is left,
# not even a core file. What it may take of time and output is less than usual here, so that the case is short.
cd "$T" || exit
sim=$OLDPWD/tests/data/skl.sim
ulimit -S -c unlimited 2>/dev/null
try() {
    isaprobe "$@" 2>&1
    echo "exit $?"
}
(
    ulimit -S -t 2
    try measure -t "sim:$sim" "times 400000000000 nop"
    try measure -t "sim:$sim" --syntax att ".rept 4000000; .rept 4000000; .endr; .endr"
    printf 'nop\n%%rep 1000000\n%%rep 1000000\n%%assign i 1\n%%endrep\n%%endrep\n' >block.asm
    try measure -t "sim:$sim" --file block.asm
    rm block.asm
)
try measure -t "sim:$sim" "resb 400000000000"
truncate -s 2M zeros
(
    # This bound the assembler has from its start, and may meet before isaprobe forbids it a core file.
    ulimit -S -f 1024 -c 0
    try measure -t "sim:$sim" "incbin 'zeros'"
)
try measure -t "sim:$sim" "incbin 'zeros'"
try measure -t "sim:$sim" "incbin '/dev/zero'"
try measure -t "sim:$sim" "times 65537 nop"
try measure -t "sim:$sim" --syntax att ".fill 400000000000"
# What GNU as says of ".rept 400000000; nop; .endr". It wants all at once, now and then before it is bounded.
printf '#!/bin/sh\necho "as: out of memory allocating 8000000001 bytes after a total of 135168 bytes" >&2\nexit 1\n' >as
chmod +x as
ISAPROBE_AS=$PWD/as try measure -t "sim:$sim" --syntax att "nop"
rm as
ls
