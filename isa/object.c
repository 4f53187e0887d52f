/* SPDX-License-Identifier: Apache-2.0 */
#include "isa/object.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Every table of the file is copied out piece by piece, after its place has been checked. */
struct object {
    const uint8_t *file;
    size_t bytes;
    Elf64_Ehdr header;
};

static const uint8_t mark_begin[] = {0xbb, 0x6f, 0x00, 0x00, 0x00, 0x64, 0x67, 0x90};
static const uint8_t mark_end[] = {0xbb, 0xde, 0x00, 0x00, 0x00, 0x64, 0x67, 0x90};

bool isa_object_is(const uint8_t *file, size_t file_bytes) {
    return file_bytes >= SELFMAG && memcmp(file, ELFMAG, SELFMAG) == 0;
}

static bool within(const struct object *object, uint64_t offset, uint64_t length) {
    return offset <= object->bytes && length <= object->bytes - offset;
}

static enum ip_status object_open(struct object *object, const uint8_t *file, size_t file_bytes,
                                  struct ip_error *err) {
    *object = (struct object){.file = file, .bytes = file_bytes};
    if (!isa_object_is(file, file_bytes) || file_bytes < sizeof object->header) {
        return ip_fail(err, IP_SYNTAX, "this is no ELF file: give an object file or an executable");
    }
    memcpy(&object->header, file, sizeof object->header);
    const Elf64_Ehdr *header = &object->header;
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != EM_X86_64) {
        return ip_fail(err, IP_SYNTAX, "this ELF file is not of x86-64");
    }
    if (header->e_shnum != 0 &&
        (header->e_shentsize != sizeof(Elf64_Shdr) ||
         !within(object, header->e_shoff, (uint64_t)header->e_shnum * sizeof(Elf64_Shdr)))) {
        return ip_fail(err, IP_SYNTAX, "this ELF file is damaged: its section table lies outside of it");
    }
    return IP_OK;
}

static Elf64_Shdr section_get(const struct object *object, unsigned i) {
    Elf64_Shdr section;
    memcpy(&section, object->file + object->header.e_shoff + i * sizeof section, sizeof section);
    return section;
}

static bool has_code(const struct object *object, const Elf64_Shdr *section) {
    return section->sh_type == SHT_PROGBITS && (section->sh_flags & SHF_EXECINSTR) != 0 &&
           within(object, section->sh_offset, section->sh_size);
}

/* A NUL-terminated name in a string section; "" when it lies outside. */
static const char *name_get(const struct object *object, unsigned strings, uint32_t offset) {
    if (strings >= object->header.e_shnum) {
        return "";
    }
    Elf64_Shdr section = section_get(object, strings);
    if (!within(object, section.sh_offset, section.sh_size) || offset >= section.sh_size) {
        return "";
    }
    const char *name = (const char *)object->file + section.sh_offset + offset;
    return memchr(name, '\0', section.sh_size - offset) != NULL ? name : "";
}

enum ip_status isa_object_text(const uint8_t *file, size_t file_bytes, struct isa_region *region,
                               struct ip_error *err) {
    struct object object;
    enum ip_status status = object_open(&object, file, file_bytes, err);
    if (status != IP_OK) {
        return status;
    }
    for (unsigned i = 0; i < object.header.e_shnum; i++) {
        Elf64_Shdr section = section_get(&object, i);
        if (has_code(&object, &section) && section.sh_size > 0 &&
            strcmp(name_get(&object, object.header.e_shstrndx, section.sh_name), ".text") == 0) {
            *region = (struct isa_region){file + section.sh_offset, section.sh_size, section.sh_addr};
            return IP_OK;
        }
    }
    return ip_fail(err, IP_USAGE, "this file has no code");
}

enum ip_status isa_object_range(const uint8_t *file, size_t file_bytes, uint64_t first, uint64_t end,
                                struct isa_region *region, struct ip_error *err) {
    struct object object;
    enum ip_status status = object_open(&object, file, file_bytes, err);
    if (status != IP_OK) {
        return status;
    }
    for (unsigned i = 0; i < object.header.e_shnum; i++) {
        Elf64_Shdr section = section_get(&object, i);
        if (has_code(&object, &section) && first >= section.sh_addr && end > first &&
            end - section.sh_addr <= section.sh_size) {
            *region =
                (struct isa_region){file + section.sh_offset + (first - section.sh_addr), end - first, first};
            return IP_OK;
        }
    }
    return ip_fail(err, IP_USAGE,
                   "no section of this file has code at 0x%" PRIx64 " to 0x%" PRIx64
                   ": see the addresses in 'objdump -d'",
                   first, end);
}

/* The code of a symbol of section `index`. */
static enum ip_status symbol_read(const struct object *object, const Elf64_Sym *symbol,
                                  struct isa_region *region, struct ip_error *err) {
    Elf64_Shdr section = section_get(object, symbol->st_shndx);
    uint64_t offset = symbol->st_value - section.sh_addr; /* sh_addr is 0 in an object file */
    if (!has_code(object, &section) || offset > section.sh_size ||
        symbol->st_size > section.sh_size - offset) {
        return ip_fail(err, IP_USAGE, "this symbol names no code");
    }
    *region =
        (struct isa_region){object->file + section.sh_offset + offset, symbol->st_size, symbol->st_value};
    return IP_OK;
}

enum ip_status isa_object_symbol(const uint8_t *file, size_t file_bytes, const char *symbol,
                                 struct isa_region *region, struct ip_error *err) {
    struct object object;
    char near[64] = "";
    enum ip_status status = object_open(&object, file, file_bytes, err);
    if (status != IP_OK) {
        return status;
    }
    for (unsigned i = 0; i < object.header.e_shnum; i++) {
        Elf64_Shdr table = section_get(&object, i);
        bool symbols = (table.sh_type == SHT_SYMTAB || table.sh_type == SHT_DYNSYM) &&
                       table.sh_entsize == sizeof(Elf64_Sym) &&
                       within(&object, table.sh_offset, table.sh_size);
        for (uint64_t k = 0; symbols && k < table.sh_size / sizeof(Elf64_Sym); k++) {
            Elf64_Sym entry;
            memcpy(&entry, file + table.sh_offset + k * sizeof entry, sizeof entry);
            const char *name = name_get(&object, table.sh_link, entry.st_name);
            bool function = entry.st_shndx != SHN_UNDEF && entry.st_shndx < object.header.e_shnum &&
                            entry.st_size > 0 && name[0] != '\0';
            if (function && strcmp(name, symbol) == 0) {
                return symbol_read(&object, &entry, region, err);
            }
            if (function && near[0] == '\0' && ELF64_ST_TYPE(entry.st_info) == STT_FUNC &&
                (strstr(name, symbol) != NULL || strstr(symbol, name) != NULL)) {
                (void)snprintf(near, sizeof near, "%s", name);
            }
        }
    }
    return ip_fail(err, IP_USAGE, "no symbol with a size is called '%.100s'%s%s%s", symbol,
                   near[0] != '\0' ? "; there is '" : ": see 'nm -S'", near, near[0] != '\0' ? "'" : "");
}

static const uint8_t *mark_find(const uint8_t *code, size_t bytes, const uint8_t *mark, size_t mark_bytes) {
    return bytes < mark_bytes ? NULL : memmem(code, bytes, mark, mark_bytes);
}

enum ip_status isa_object_marked(const uint8_t *code, size_t code_bytes, struct isa_region *region,
                                 struct ip_error *err) {
    const uint8_t *begin = mark_find(code, code_bytes, mark_begin, sizeof mark_begin);
    if (begin == NULL) {
        return ip_fail(
            err, IP_USAGE,
            "no marks: put 'mov ebx, 111' and the bytes 64 67 90 before the block, 'mov ebx, 222' and "
            "the same bytes behind it, or name a symbol or addresses");
    }
    begin += sizeof mark_begin;
    size_t left = code_bytes - (size_t)(begin - code);
    const uint8_t *end = mark_find(begin, left, mark_end, sizeof mark_end);
    if (end == NULL || end == begin) {
        return ip_fail(err, IP_USAGE,
                       end == NULL ? "the begin mark has no end mark behind it"
                                   : "there is nothing between the marks");
    }
    *region = (struct isa_region){begin, (size_t)(end - begin), (uint64_t)(begin - code)};
    return IP_OK;
}

enum ip_status isa_object_marks(const uint8_t *file, size_t file_bytes, struct isa_region *region,
                                struct ip_error *err) {
    struct object object;
    enum ip_status status = object_open(&object, file, file_bytes, err);
    if (status != IP_OK) {
        return status;
    }
    for (unsigned i = 0; i < object.header.e_shnum; i++) {
        Elf64_Shdr section = section_get(&object, i);
        if (has_code(&object, &section) &&
            mark_find(file + section.sh_offset, section.sh_size, mark_begin, sizeof mark_begin) != NULL) {
            status = isa_object_marked(file + section.sh_offset, section.sh_size, region, err);
            region->address += status == IP_OK ? section.sh_addr : 0;
            return status;
        }
    }
    return isa_object_marked(NULL, 0, region, err);
}
