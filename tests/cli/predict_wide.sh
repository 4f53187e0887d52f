# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# 512 bits that close a port for narrower vectors: core finds it, predict counts with it; and a core that does not.
sed -e '/^fault "v\*"/d' -e '/^default/d' -e '/^store-data-ports/a wide-closes p1' tests/data/core.sim >"$T/closes.sim"
cat >>"$T/closes.sim" <<'END'
form "vmulpd ymm, ymm, ymm" ports 1*p01 latency 4
form "vpslld ymm, ymm, imm8" ports 1*p01
form "vpaddd ymm, ymm, ymm" ports 1*p015
form "vpshufd ymm, ymm, imm8" ports 1*p5
form "v* zmm, zmm*" ports 1*p05 latency 4
default ports 1*p015 latency 1
END
grep -v wide-closes "$T/closes.sim" >"$T/open.sim"
for core in closes open; do
    echo "--- $core"
    isaprobe core -q -t "sim:$T/$core.sim" -S "$T/$core.db" --only wide | grep ^wide
    isaprobe scan -q -t "sim:$T/$core.sim" -S "$T/$core.db" --parts latency,throughput,slots,ports \
        "v* ymm, ymm, ymm" "v* zmm, zmm, zmm" "v* ymm, ymm, imm8" "imul r64, r64"
    for block in \
        "vmulpd ymm0, ymm4, ymm5; vmulpd ymm1, ymm4, ymm5; vmulpd ymm2, ymm4, ymm5; vpord zmm6, zmm4, zmm5" \
        "vpaddd ymm0, ymm4, ymm5; vpaddd ymm1, ymm4, ymm5; vpaddd ymm2, ymm4, ymm5; vpord zmm6, zmm4, zmm5" \
        "vmulpd ymm0, ymm4, ymm5; vmulpd ymm1, ymm4, ymm5; vmulpd ymm2, ymm4, ymm5; vmulpd ymm3, ymm4, ymm5"; do
        measured=$(isaprobe measure -t "sim:$T/$core.sim" --format csv "$block" | rounded | cut -d, -f 4 | tail -n 1)
        predicted=$(isaprobe predict -S "$T/$core.db" --format csv "$block" | rounded | cut -d, -f 1 | sed -n 2p)
        echo "measured $measured, predicted $predicted"
    done
done
isaprobe predict -S "$T/closes.db" "vmulpd ymm0, ymm4, ymm5; vpord zmm6, zmm4, zmm5" | grep -o "512 bits close.*"
echo "--- the ports that count, of each instruction"
isaprobe predict -S "$T/closes.db" --format json "vmulpd ymm0, ymm4, ymm5; vpord zmm6, zmm4, zmm5" |
    python3 -c 'import json, sys; print([i["ports"] for i in json.load(sys.stdin)["instructions"]])'
