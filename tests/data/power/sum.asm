    addpd xmm0, [rsi]
    add rsi, 16
    dec rcx
    jnz $$
