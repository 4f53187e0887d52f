isaprobe doctor --root "$T/absent"
echo "exit $?" >&2
isaprobe doctor --save /dev/null/tree
