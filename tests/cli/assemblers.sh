# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Assemblers are found and understood whatever was inherited: a parent that ignores SIGCHLD, messages in another
# language; and a program that is none is told.
perl -e '$SIG{CHLD} = "IGNORE"; exec @ARGV' isaprobe measure -q --timer sim:tests/data/skl.sim nop >/dev/null
echo "SIGCHLD ignored: exit $?"
cat >"$T/as" <<'END'
#!/bin/sh
if [ "$LC_ALL" = C ]; then
    echo "{standard input}:1: Error: no such instruction"
else
    echo "{Standardeingabe}:1: Fehler: kein solcher Befehl"
fi
exit 1
END
chmod +x "$T/as"
LC_ALL=de_DE.UTF-8 ISAPROBE_AS=$T/as isaprobe predict -S tests/data/none.db -s att 'foo'
echo "in German: exit $?"
try() {
    isaprobe "$@"
    echo "no assembler: exit $?"
}
for program in true false; do
    ISAPROBE_AS=/bin/$program try predict -S tests/data/none.db -s att nop
    ISAPROBE_NASM=/bin/$program try predict -S tests/data/none.db nop
    ISAPROBE_NASM=/bin/$program try latency -t sim:tests/data/skl.sim "add r64, r64"
    ISAPROBE_NASM=/bin/$program try list -v "add r64, r64"
done
printf '#!/bin/sh\necho "nasm: unknown option -w" >&2\nexit 1\n' >"$T/other"
chmod +x "$T/other"
ISAPROBE_NASM=$T/other try measure -t sim:tests/data/skl.sim nop
try predict -S tests/data/none.db "label:" # NASM itself
printf 'nop\nfoo bar, 1\n' >"$T/included.asm"
try predict -S tests/data/none.db "%include '$T/included.asm'" 2>&1 | sed 's/\(asm:2:\).*/\1/' # its place is told
