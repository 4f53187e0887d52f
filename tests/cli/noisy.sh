# Noise, spikes and a moving clock, and the truth all the same.
isaprobe latency --timer sim:tests/data/noisy.sim "addpd xmm, xmm" "imul r64, r64"
