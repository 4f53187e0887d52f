isaprobe list --verbose "add r64, r64/m64" "addpd xmm, xmm"
