/* SPDX-License-Identifier: Apache-2.0 */
/* isa/encode.h - forms to machine code by Zydis's encoder, for what NASM cannot write. Internal to isa/. */
#ifndef ISAPROBE_ISA_ENCODE_H
#define ISAPROBE_ISA_ENCODE_H

#include <Zydis/Mnemonic.h>

#include "common/error.h"
#include "isa/form.h"

/* Encodes one instance. `code` holds ISA_CODE_MAX bytes. IP_UNSUPPORTED when Zydis cannot. */
IP_CHECK enum ip_status isa_encode(const struct isa_form *form, const struct isa_binding *binding,
                                   uint8_t *code, size_t *length, struct ip_error *err);

/* Zydis's number of a mnemonic; ZYDIS_MNEMONIC_INVALID: it knows none of that name. */
ZydisMnemonic isa_zydis_mnemonic(const char *name);

#endif
