isaprobe --version | sed 's/[0-9]\+\.[0-9]\+\.[0-9]\+/X.Y.Z/'
