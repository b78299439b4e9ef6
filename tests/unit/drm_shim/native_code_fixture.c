// SPDX-License-Identifier: MIT
#include "native_code_fixture.h"

#include <criterion/criterion.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define MACHINE_INTELGT 205

enum { NONE, TEXT, RELOCATIONS, SYMBOLS, STRINGS, DATA, INFO, SPIRV, SECTION_COUNT };

// Names of sections and symbols, each behind a zero.
static const char strings[] =
    "\0.text.scale\0.rel.text.scale\0.symtab\0.strtab\0.data.global\0.ze_info\0.spv\0total"
    "\0__INTEL_PATCH_CROSS_THREAD_OFFSET_OFF_R0";

static Elf64_Word name_of(const char *name)
{
    for (size_t i = 1; i < sizeof(strings); i++) {
        if (strings[i - 1] == '\0' && strcmp(strings + i, name) == 0)
            return (Elf64_Word)i;
    }
    cr_assert_fail("%s", name);
    return 0;
}

struct part {
    const char *name;
    Elf64_Word type;
    Elf64_Xword flags;
    Elf64_Word link;
    Elf64_Word info;
    const void *bytes;
    size_t size_bytes;
};

static uint8_t *write_file(const struct part parts[SECTION_COUNT], size_t *out_size_bytes)
{
    size_t offset = sizeof(Elf64_Ehdr);
    for (int i = 0; i < SECTION_COUNT; i++)
        offset += parts[i].size_bytes;
    *out_size_bytes = offset + SECTION_COUNT * sizeof(Elf64_Shdr);
    uint8_t *file = calloc(1, *out_size_bytes);
    cr_assert(file);
    Elf64_Ehdr header = {.e_machine = MACHINE_INTELGT,
                         .e_shoff = offset,
                         .e_shentsize = sizeof(Elf64_Shdr),
                         .e_shnum = SECTION_COUNT,
                         .e_shstrndx = STRINGS};
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    memcpy(file, &header, sizeof(header));
    size_t at = sizeof(header);
    for (int i = 1; i < SECTION_COUNT; i++) {
        const Elf64_Shdr section = {.sh_name = name_of(parts[i].name),
                                    .sh_type = parts[i].type,
                                    .sh_flags = parts[i].flags,
                                    .sh_offset = at,
                                    .sh_size = parts[i].size_bytes,
                                    .sh_link = parts[i].link,
                                    .sh_info = parts[i].info};
        memcpy(file + offset + (size_t)i * sizeof(section), &section, sizeof(section));
        memcpy(file + at, parts[i].bytes, parts[i].size_bytes);
        at += parts[i].size_bytes;
    }
    return file;
}

uint8_t *native_code_fixture(size_t *out_size_bytes)
{
    static const char info[] =
        "kernels:\n  - name: scale\n    execution_env:\n      has_stack_calls: true\n";
    static const char spirv[] = "SPIR-V";
    uint8_t code[FIXTURE_CODE_BYTES], data[12] = {0};
    const Elf64_Rel relocation = {.r_offset = FIXTURE_PATCHED_AT, .r_info = ELF64_R_INFO(2, 2)};
    const Elf64_Sym symbols[] = {
        {0},
        {.st_name = name_of("total"),
         .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
         .st_shndx = DATA,
         .st_value = 8,
         .st_size = 4},
        {.st_name = name_of("__INTEL_PATCH_CROSS_THREAD_OFFSET_OFF_R0")},
    };
    for (int i = 0; i < FIXTURE_CODE_BYTES; i++)
        code[i] = (uint8_t)i;
    const struct part parts[SECTION_COUNT] = {
        [TEXT] = {".text.scale", SHT_PROGBITS, SHF_ALLOC, 0, 0, code, sizeof(code)},
        [RELOCATIONS] = {".rel.text.scale", SHT_REL, 0, SYMBOLS, TEXT, &relocation,
                         sizeof(relocation)},
        [SYMBOLS] = {".symtab", SHT_SYMTAB, 0, STRINGS, 0, symbols, sizeof(symbols)},
        [STRINGS] = {".strtab", SHT_STRTAB, 0, 0, 0, strings, sizeof(strings)},
        [DATA] = {".data.global", SHT_PROGBITS, SHF_WRITE, 0, 0, data, sizeof(data)},
        [INFO] = {".ze_info", SHT_LOUSER + 0x7f000011, 0, 0, 0, info, sizeof(info) - 1},
        [SPIRV] = {".spv", SHT_LOUSER + 0x7f000009, 0, 0, 0, spirv, sizeof(spirv) - 1},
    };
    return write_file(parts, out_size_bytes);
}
