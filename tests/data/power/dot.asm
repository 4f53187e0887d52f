    fld qword [esi]
    fmul qword [edi]
    faddp st1, st0
    add esi, 8
    add edi, 8
    dec ecx
    jnz $$
