# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# --help of the program and of every command goes to stdout; `help COMMAND` is the same text.
isaprobe --help
for command in $(isaprobe --help | sed -n '/^Commands/,/^Options/s/^  \([a-z][a-z]*\) .*/\1/p'); do
    [ "$command" = help ] && continue
    echo "== $command"
    isaprobe "$command" --help >"$T/option" || echo "exit $?"
    isaprobe help "$command" >"$T/command" || echo "exit $?"
    cmp "$T/option" "$T/command"
    isaprobe "$command" -h | cmp - "$T/option"
    head -n 2 "$T/option"
done
# Of help itself there is no more to say.
isaprobe --help >"$T/all"
for word in help --help -h; do
    isaprobe help $word | cmp - "$T/all"
done
