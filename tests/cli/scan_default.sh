# Without --store: a file of its own for each CPU, below $XDG_DATA_HOME or $HOME.
export HOME=$T/home XDG_DATA_HOME=
isaprobe scan -q -t sim:tests/data/store/exact.sim --no-latency "imul r64, r64"
XDG_DATA_HOME=$T/data isaprobe scan -q -t sim:tests/data/skl.sim --no-latency "imul r64, r64"
(cd "$T" && find . -type f | LC_ALL=C sort)
