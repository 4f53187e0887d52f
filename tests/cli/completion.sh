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
    printf "%s\n" "${COMPREPLY[@]}" | sort | paste -sd " "
}
cd "$T" && mkdir here && cd here && touch fast.db loop.txt || exit
offer isaprobe lat
offer isaprobe latency --form
offer isaprobe latency --format j
offer isaprobe emit --shape t
echo "# options by their letter"
offer isaprobe predict -S fa
offer isaprobe measure -f lo
offer isaprobe predict -s ''
offer isaprobe validate -n ''
offer isaprobe latency -r ''
echo "# files as arguments"
offer isaprobe compare fa
offer isaprobe validate ''
offer isaprobe validate --not
offer isaprobe latency lo
echo "# names beside files"
offer isaprobe power --machine ''
offer isaprobe power -k m
offer isaprobe latency --timer ''
echo "# where bash splits words"
offer isaprobe latency --format = js
offer isaprobe latency --format =
offer isaprobe latency --timer = sim : lo
offer isaprobe latency -t sim :
offer isaprobe latency -t papi : lo
echo "# --completion and help"
offer isaprobe --comp
offer isaprobe --completion ''
offer isaprobe help po
# The others' files, of which no such shell is asked here.
grep -m 1 -e -S+ "$T/zsh"
grep -m 1 -e '--machine' "$T/zsh"
grep -m 1 -e '--timer' "$T/zsh"
sed -n "/^        compare)/,/;;/p" "$T/zsh" | grep -e argument:
grep -e '--completion' "$T/zsh"
grep -e '-l machine' -e '-l completion' -e 'compare. -F' -e 'from latency. -l timer' "$T/fish"
