# Putigny's Table 2.3: one register is a dependent chain; as many as latency over throughput hide it.
for n in 1 2 4 8; do isaprobe throughput --timer sim:tests/data/skl.sim --registers $n --format csv "addpd xmm, xmm" | tail -n 1; done
isaprobe throughput --timer sim:tests/data/skl.sim --registers 8 --unroll 16 --format csv "addpd xmm, xmm" | tail -n 1
