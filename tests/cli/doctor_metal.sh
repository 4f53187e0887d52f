isaprobe doctor --root tests/data/host/metal
