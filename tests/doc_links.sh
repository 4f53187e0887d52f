#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Does every section that a link or a comment names exist? From the root of the project:
#   tests/doc_links.sh FILE...
# Looked at are links of Markdown ([text](page.md#section)) and what names a section of a page in words
# (docs/page.md, "Section", also over the end of a line of a comment).
set -euo pipefail
export LC_ALL=C.UTF-8

# sections PAGE: its headings as the anchors that Markdown makes of them
sections() {
    sed -n -e '/^```/,/^```/d' -e 's/^##* *//p' "$1" |
        sed -E -e 's/./\L&/g' -e 's/[^[:alnum:] _-]//g' -e 's/ /-/g'
}

# words FILE: the file as one line, without the marks of comments
words() {
    sed -E 's/^ *(\*|\/\/|#)? *//' "$1" | tr '\n' ' '
}

bad=0 links=0
# named FILE PAGE SECTION: the section is an anchor, or empty
named() {
    links=$((links + 1))
    if [[ ! -e $2 ]]; then
        echo "$1: names $2, which does not exist"
        bad=1
    elif [[ -n $3 && $2 == *.md ]] && ! sections "$2" | grep -qxF -- "$3"; then
        echo "$1: $2 has no section '$3'"
        bad=1
    fi
}

for file in "$@"; do
    if [[ $file == *.md ]]; then
        while read -r link; do
            page=${link%%#*} section=
            if [[ $link == *'#'* ]]; then section=${link#*#}; fi
            if [[ -n $page ]]; then page=$(dirname "$file")/$page; else page=$file; fi
            named "$file" "$page" "$section"
        done < <(grep -oP '\]\(\K[^) ]+(?=\))' "$file" | grep -v '^https\?:')
    fi
    while IFS='|' read -r page section; do
        section=$(sed -E -e 's/./\L&/g' -e 's/[^[:alnum:] _-]//g' -e 's/ /-/g' <<<"$section")
        named "$file" "docs/$page" "$section"
    done < <(words "$file" |
        sed -E 's/\[([a-z_]+\.md)\]\([a-z_]+\.md\), "/docs\/\1, "/g' |
        grep -oP 'docs/[a-z_]+\.md, "[^"]+"' | sed -E 's/^docs\/([a-z_.]+), "(.*)"$/\1|\2/')
done
echo "docs: $links links and sections looked for"
exit "$bad"
