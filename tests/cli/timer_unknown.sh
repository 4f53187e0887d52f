isaprobe latency --timer sundial "addpd xmm, xmm"
