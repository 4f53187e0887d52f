# Only rows with a reason: exit 1.
isaprobe measure --timer sim:tests/data/skl.sim ud2
