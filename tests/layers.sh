#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The rules of the layers (CONTRIBUTING.md):
#   1. a file includes its own module, or an earlier one of the list; never a later one; harness/ knows no forms
#      (the simulated CPU apart, which finds the rows of its description by them);
#   2. the library neither prints nor ends the process;
#   3. letters are those of common/ascii.h: what <ctype.h> and <strings.h> say depends on the locale;
#   4. the library keeps no mutable state of its own (tests/layers.state lists the exceptions, with reasons).
#   tests/layers.sh LIBRARY MODULE...      the modules in their order
set -euo pipefail

library=$1
shift
modules=("$@" cli)
bad=0
complain() {
    echo "layers: $*"
    bad=1
}

# 1. Includes.
declare -A rank
for i in "${!modules[@]}"; do
    rank[${modules[i]}]=$i
done
for module in "${modules[@]}"; do
    for file in "$module"/*.c "$module"/*.h; do
        [[ -e $file ]] || continue
        while IFS=: read -r line include; do
            target=${include%%/*}
            if [[ $include != */* ]]; then
                complain "$file:$line: include \"$include\": write the module too, as in \"$module/$include\""
            elif [[ -z ${rank[$target]-} ]]; then
                complain "$file:$line: include \"$include\": no such module"
            elif ((rank[$target] > rank[$module])); then
                complain "$file:$line: $module/ includes \"$include\", a later module"
            elif [[ $file == harness/* && $file != harness/sim* && $include == isa/form.h ]]; then
                complain "$file:$line: harness/ sees machine code, never forms"
            fi
        done < <(awk -F '"' '/^[ \t]*#[ \t]*include[ \t]*"/ { print NR ":" $2 }' "$file")
        head -n 2 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' || complain "$file: no SPDX line at the top"
    done
done

# 2. No printing, no exits. (_exit is for children of fork.)
forbidden='printf|vprintf|puts|putchar|perror|stdout|stderr|exit|quick_exit|abort|system|err|errx|warn|warnx'
while read -r object symbol; do
    complain "$object uses $symbol: the library neither prints nor exits"
done < <(nm -A --undefined-only "$library" | sed -E 's/^([^:]*:)?([^:]*):.* U /\2 /; s/@.*//' |
    grep -E " ($forbidden)\$" || true)

# 3. No letters of the locale.
locale_letters='#[[:space:]]*include[[:space:]]*<(ctype|strings|wctype)\.h>|\<(strn?casecmp|strcasestr|strn?coll)[[:space:]]*\('
for module in "${modules[@]}"; do
    while IFS=: read -r file line text; do
        complain "$file:$line: '$text' depends on the locale: take common/ascii.h"
    done < <(grep -nE "$locale_letters" /dev/null "$module"/*.c "$module"/*.h || true)
done

# 4. No state. Constants with relocations live in .data.rel.ro, which is not meant here.
while read -r object section symbol; do
    grep -qE "^${symbol}[[:space:]]" tests/layers.state && continue
    complain "$object: '$symbol' in $section is state of the library's own; put it into a struct of the caller's"
done < <(objdump -t "$library" |
    awk '/^[^ ]+\.o: / { sub(":", "", $1); object = $1 }
         NF >= 6 && $(NF-2) ~ /^(\.(bss|data|tbss|tdata)|\*COM\*)$/ && $NF !~ /^\./ { print object, $(NF-2), $NF }')

if ((bad)); then
    exit 1
fi
echo "layers: ${#modules[@]} modules in order; the library neither prints, nor exits, nor keeps state"
