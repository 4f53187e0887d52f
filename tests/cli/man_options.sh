# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The manual has every command and option of --help, and no other.
sed -n 's/^\*\([a-z]*\)\*.*/\1/p' docs/isaprobe.1.scd | sort -u >"$T/man_commands"
grep -o -e '--[a-z-]*' docs/isaprobe.1.scd | sort -u >"$T/man_options"
isaprobe --help | sed -n '/^Commands/,/^Options/s/^  \([a-z][a-z]*\) .*/\1/p' >"$T/commands"
while IFS= read -r command; do
    grep -qx "$command" "$T/man_commands" || echo "not in the manual: $command"
    [ "$command" = help ] || isaprobe "$command" --help
done <"$T/commands" | tee "$T/help" | grep 'not in the manual'
{
    sed -n 's/^  .\{4\}\(--[a-z-]*\).*/\1/p' "$T/help"
    echo --version
} | sort -u | diff "$T/man_options" - && echo "the same options"
