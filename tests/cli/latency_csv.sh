isaprobe latency --timer sim:tests/data/skl.sim --format csv "addpd xmm, xmm" | tr -d '\r'
