isaprobe latency --isa "$T/absent.isa" ADDPD
