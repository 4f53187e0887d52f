isaprobe latency --timer "sim:$T/absent.sim" "addpd xmm, xmm"
