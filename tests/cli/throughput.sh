isaprobe throughput --timer sim:tests/data/skl.sim "addpd xmm, xmm" "imul r64, r64" "add r64, r64"
isaprobe throughput --timer sim:tests/data/skl.sim --format json "addpd xmm, xmm"
isaprobe throughput --timer sim:tests/data/skl.sim --format csv "addpd xmm, xmm" | tr -d '\r'
