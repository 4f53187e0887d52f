# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Each shell that is here reads its file; the names of all commands and options are in it.
for shell in bash zsh fish; do
    isaprobe --completion $shell >"$T/$shell" || echo "exit $?"
    if command -v $shell >/dev/null; then $shell -n "$T/$shell" || echo "$shell rejects its completion"; fi
    for command in $(isaprobe --help | sed -n '/^Commands/,/^Options/s/^  \([a-z][a-z]*\) .*/\1/p'); do
        grep -qw -e "$command" "$T/$shell" || echo "$shell: no $command"
        [ "$command" = help ] && continue
        for option in $(isaprobe "$command" --help | sed -n 's/^  .\{4\}--\([a-z-]*\).*/\1/p'); do
            grep -q -e "-$option\|-l $option" "$T/$shell" || echo "$shell: no $command --$option"
        done
    done
done
# What bash would offer.
# shellcheck source=/dev/null
. "$T/bash"
offer() {
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    _isaprobe
    echo "${COMPREPLY[@]}"
}
offer isaprobe lat
offer isaprobe latency --form
offer isaprobe latency --format j
offer isaprobe emit --shape t
