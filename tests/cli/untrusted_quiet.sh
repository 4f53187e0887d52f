isaprobe latency --timer sim:tests/data/hopeless.sim --quiet --format csv "addpd xmm, xmm" >"$T/rows"
