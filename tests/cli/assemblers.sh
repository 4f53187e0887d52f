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
ISAPROBE_AS=/bin/true isaprobe predict -S tests/data/none.db -s att nop
echo "no assembler: exit $?"
