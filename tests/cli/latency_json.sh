isaprobe latency --timer sim:tests/data/skl.sim --format json "addpd xmm, xmm"
