# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
for what in cycles time gflops-per-watt; do
    isaprobe power --machine scc --kernel dot --plot $what --measured tests/data/power/dot_measured.csv -o "$T/$what.svg"
    sed -n "s/.*<title>\(.*\)<\/title>.*/\1/p; s/.*rotate(-90)\">\(.*\)<\/text>.*/\1/p" "$T/$what.svg"
    if command -v xmllint >/dev/null; then xmllint --noout "$T/$what.svg"; fi
done
# No figure, as without the option.
isaprobe power -m scc -k dot >"$T/plain"
isaprobe power -m scc -k dot --plot none | diff - "$T/plain" && echo same
