# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The manual has every command and option of --help, and no other; what a command alone has stands with the command.
man=docs/isaprobe.1.scd
sed -n 's/^\*\([a-z]*\)\*.*/\1/p' $man | sort -u >"$T/man_commands"
grep -o -e '--[a-z-]*' $man | sort -u >"$T/man_options"
isaprobe --help | sed -n '/^Commands/,/^Options/s/^  \([a-z][a-z]*\) .*/\1/p' >"$T/commands"
while IFS= read -r command; do
    grep -qx "$command" "$T/man_commands" || echo "not in the manual: $command"
    [ "$command" = help ] || isaprobe "$command" --help
done <"$T/commands" | tee "$T/help" | grep 'not in the manual'
{
    sed -n 's/^  .\{4\}\(--[a-z-]*\).*/\1/p' "$T/help"
    isaprobe --help | sed -n 's/^  .\{4\}\(--[a-z-]*\).*/\1/p'
} | sort -u | diff "$T/man_options" - && echo "the same options"

# part COMMAND: its part of the manual; throughput's has latency's options, too
part() {
    awk -v command="$1" '
        /^#/ { mine = 0 }
        /^\*[a-z]*\*/ { mine = $1 == "*" command "*" || (command == "latency" && $1 == "*throughput*") }
        mine' $man
}
sed -n '/^# COMMON OPTIONS/,/^# OUTPUT/p' $man | grep -o -e '^\*.*--[a-z-]*\*' | grep -o -e '--[a-z-]*' >"$T/common"
while IFS= read -r command; do
    [ "$command" = help ] && continue
    part "$command" | grep -o -e '\*--[a-z-]*' | sort -u >"$T/part"
    isaprobe "$command" --help | sed -n 's/^  .\{4\}\(--[a-z-]*\).*/\1/p' | grep -vxF -f "$T/common" |
        while IFS= read -r option; do
            grep -qxF -- "*$option" "$T/part" || echo "$command: the manual has no $option there"
        done
done <"$T/commands"
# So has core's part the groups of --only, as its help.
part core >"$T/part"
isaprobe core --help | sed -n '/Groups:/,/\./p' >"$T/groups"
for group in $(isaprobe core --no-store --only no_such 2>&1 | sed -n 's/.* a group: \(.*\);.*/\1/p'); do
    grep -qF "*$group*" "$T/part" || echo "core: the manual has no group $group"
    grep -qw "$group" "$T/groups" || echo "core: the help has no group $group"
    echo "$group"
done | sed -n '/:/p; /^issue$/p' # issue: there were some
