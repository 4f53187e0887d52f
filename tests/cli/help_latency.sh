isaprobe latency --help
