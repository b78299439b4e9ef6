// SPDX-License-Identifier: MIT
#include "native_code.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define MACHINE_INTELGT 205 // newer than Debian 12's elf.h
#define TEXT ".text."
#define RELOCATION_BYTES 8 // patched at most

struct reading {
    const uint8_t *bytes;
    size_t size_bytes;
    Elf64_Ehdr header;
    struct shim_refusal refusal;
};

static bool read_header(const void *bytes, size_t size_bytes, Elf64_Ehdr *header)
{
    if (size_bytes < sizeof(*header))
        return false;
    memcpy(header, bytes, sizeof(*header));
    return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB &&
           header->e_machine == MACHINE_INTELGT && header->e_shentsize == sizeof(Elf64_Shdr) &&
           header->e_shoff <= size_bytes &&
           header->e_shnum <= (size_bytes - header->e_shoff) / sizeof(Elf64_Shdr) &&
           header->e_shstrndx < header->e_shnum;
}

size_t shim_native_code_length(const void *bytes, size_t size_bytes)
{
    Elf64_Ehdr header;
    if (!read_header(bytes, size_bytes, &header))
        return 0;
    return header.e_shoff + header.e_shnum * sizeof(Elf64_Shdr);
}

static Elf64_Shdr section_at(const struct reading *reading, size_t index)
{
    Elf64_Shdr section;
    memcpy(&section, reading->bytes + reading->header.e_shoff + index * sizeof(section),
           sizeof(section));
    return section;
}

static bool is_inside(const struct reading *reading, const Elf64_Shdr *section)
{
    return section->sh_type == SHT_NOBITS ||
           (section->sh_offset <= reading->size_bytes &&
            section->sh_size <= reading->size_bytes - section->sh_offset);
}

// A terminated string of a string table, or NULL.
static const char *string_at(const struct reading *reading, size_t table, uint64_t offset)
{
    if (table >= reading->header.e_shnum)
        return NULL;
    const Elf64_Shdr section = section_at(reading, table);
    if (section.sh_type == SHT_NOBITS || !is_inside(reading, &section) || offset >= section.sh_size)
        return NULL;
    const char *string = (const char *)reading->bytes + section.sh_offset + offset;
    return memchr(string, '\0', section.sh_size - offset) ? string : NULL;
}

// The name of a relocation's symbol, or NULL.
static const char *symbol_name(const struct reading *reading, const Elf64_Shdr *relocations,
                               uint64_t info)
{
    Elf64_Sym symbol;
    if (relocations->sh_link >= reading->header.e_shnum)
        return NULL;
    const Elf64_Shdr symbols = section_at(reading, relocations->sh_link);
    const uint64_t at = ELF64_R_SYM(info);
    if (symbols.sh_type != SHT_SYMTAB || !is_inside(reading, &symbols) ||
        at >= symbols.sh_size / sizeof(symbol))
        return NULL;
    memcpy(&symbol, reading->bytes + symbols.sh_offset + at * sizeof(symbol), sizeof(symbol));
    return string_at(reading, symbols.sh_link, symbol.st_name);
}

static void look_for_implicit_arguments(const struct reading *reading,
                                        const Elf64_Shdr *relocations,
                                        struct shim_native_kernel *kernel)
{
    for (uint32_t i = 0; i < kernel->relocation_count && !kernel->names_implicit_arguments; i++) {
        Elf64_Rel relocation; // with which the longer form begins, too
        memcpy(&relocation, kernel->relocations + (size_t)i * kernel->relocation_bytes,
               sizeof(relocation));
        const char *name = symbol_name(reading, relocations, relocation.r_info);
        kernel->names_implicit_arguments =
            name && strcmp(name, "__INTEL_PATCH_CROSS_THREAD_OFFSET_OFF_R0") == 0;
    }
}

// Relocations of a section .text.NAME are in .rel.text.NAME, whose sh_info is its index.
static bool read_relocations(const struct reading *reading, size_t text,
                             struct shim_native_kernel *kernel)
{
    for (size_t i = 0; i < reading->header.e_shnum; i++) {
        const Elf64_Shdr section = section_at(reading, i);
        if ((section.sh_type != SHT_REL && section.sh_type != SHT_RELA) || section.sh_info != text)
            continue;
        kernel->relocation_bytes =
            section.sh_type == SHT_REL ? sizeof(Elf64_Rel) : sizeof(Elf64_Rela);
        if (!is_inside(reading, &section) ||
            section.sh_size / kernel->relocation_bytes > UINT32_MAX)
            return shim_refuse(&reading->refusal, "relocations of %s reach beyond the end",
                               kernel->name);
        kernel->relocations = reading->bytes + section.sh_offset;
        kernel->relocation_count = (uint32_t)(section.sh_size / kernel->relocation_bytes);
        look_for_implicit_arguments(reading, &section, kernel);
    }
    return true;
}

static bool read_kernels(const struct reading *reading, struct shim_native_code *code)
{
    const size_t count = reading->header.e_shnum;
    code->kernels = calloc(count + 1, sizeof(*code->kernels));
    if (!code->kernels)
        return shim_refuse(&reading->refusal, "out of memory");
    for (size_t i = 0; i < count; i++) {
        const Elf64_Shdr section = section_at(reading, i);
        const char *name = string_at(reading, reading->header.e_shstrndx, section.sh_name);
        if (!name || !is_inside(reading, &section))
            return shim_refuse(&reading->refusal, "section %zu reaches beyond the end", i);
        if (section.sh_type == SHT_NOBITS || strncmp(name, TEXT, strlen(TEXT)) != 0 ||
            section.sh_size == 0)
            continue;
        struct shim_native_kernel *kernel = &code->kernels[code->kernel_count++];
        kernel->name = name + strlen(TEXT);
        kernel->text = reading->bytes + section.sh_offset;
        kernel->text_bytes = section.sh_size;
        if (!read_relocations(reading, i, kernel))
            return false;
    }
    return true;
}

static void note_contents(const struct reading *reading, struct shim_native_code *code)
{
    for (size_t i = 0; i < reading->header.e_shnum; i++) {
        const Elf64_Shdr section = section_at(reading, i);
        const char *name = string_at(reading, reading->header.e_shstrndx, section.sh_name);
        // One without bytes in the file may begin anywhere.
        if (section.sh_type == SHT_NOBITS)
            continue;
        const uint8_t *content = reading->bytes + section.sh_offset;
        if (strcmp(name, ".spv") == 0) {
            code->spirv = content;
            code->spirv_bytes = section.sh_size;
        } else if (strcmp(name, ".ze_info") == 0) {
            code->info_text = (const char *)content;
            code->info_bytes = section.sh_size;
        }
    }
}

bool shim_native_code_read_info(struct shim_native_code *code, char *message, size_t message_size)
{
    if (!code->info_text)
        return true;
    if (!shim_ze_info_init(&code->info, code->info_text, code->info_bytes, message, message_size))
        return false;
    for (uint32_t i = 0; i < code->kernel_count; i++) {
        struct shim_native_kernel *kernel = &code->kernels[i];
        kernel->info = shim_ze_info_find(&code->info, kernel->name);
        if (kernel->info && kernel->info->has_stack_calls && kernel->names_implicit_arguments)
            code->info.kernels[kernel->info - code->info.kernels].has_implicit_arguments = true;
    }
    return true;
}

static bool is_variable(const struct reading *reading, const Elf64_Sym *symbol)
{
    if (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT ||
        ELF64_ST_BIND(symbol->st_info) != STB_GLOBAL || symbol->st_size == 0 ||
        symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= reading->header.e_shnum)
        return false;
    return (section_at(reading, symbol->st_shndx).sh_flags & SHF_WRITE) != 0;
}

static bool read_variables(const struct reading *reading, struct shim_native_code *code)
{
    for (size_t i = 0; i < reading->header.e_shnum; i++) {
        const Elf64_Shdr section = section_at(reading, i);
        if (section.sh_type != SHT_SYMTAB || code->variables)
            continue;
        const size_t count = section.sh_size / sizeof(Elf64_Sym);
        code->variables = calloc(count + 1, sizeof(*code->variables));
        if (!code->variables)
            return shim_refuse(&reading->refusal, "out of memory");
        for (size_t at = 0; at < count; at++) {
            Elf64_Sym symbol;
            memcpy(&symbol, reading->bytes + section.sh_offset + at * sizeof(symbol),
                   sizeof(symbol));
            const char *name = string_at(reading, section.sh_link, symbol.st_name);
            if (!name)
                return shim_refuse(&reading->refusal, "symbol %zu has no name", at);
            if (is_variable(reading, &symbol))
                code->variables[code->variable_count++] =
                    (struct shim_native_variable){name, symbol.st_value, symbol.st_size};
        }
    }
    return true;
}

bool shim_native_code_init(struct shim_native_code *out_code, const void *bytes, size_t size_bytes,
                           char *message, size_t message_size)
{
    struct reading reading = {.size_bytes = size_bytes, .refusal = {message, message_size}};
    *out_code = (struct shim_native_code){0};
    if (!read_header(bytes, size_bytes, &reading.header))
        return shim_refuse(&reading.refusal, "%zu bytes are no ELF file of an Intel GPU",
                           size_bytes);
    out_code->bytes = malloc(size_bytes);
    if (!out_code->bytes)
        return shim_refuse(&reading.refusal, "out of memory");
    memcpy(out_code->bytes, bytes, size_bytes);
    out_code->size_bytes = size_bytes;
    reading.bytes = out_code->bytes;
    if (!read_kernels(&reading, out_code) || !read_variables(&reading, out_code)) {
        shim_native_code_finish(out_code);
        return false;
    }
    note_contents(&reading, out_code);
    return true;
}

void shim_native_code_finish(struct shim_native_code *code)
{
    shim_ze_info_finish(&code->info);
    free(code->kernels);
    free(code->variables);
    free(code->bytes);
    *code = (struct shim_native_code){0};
}

// Whether a relocation changed the byte.
static bool is_patched(const struct shim_native_kernel *kernel, uint64_t at)
{
    for (uint32_t i = 0; i < kernel->relocation_count; i++) {
        uint64_t offset;
        memcpy(&offset, kernel->relocations + (size_t)i * kernel->relocation_bytes, sizeof(offset));
        if (at >= offset && at - offset < RELOCATION_BYTES)
            return true;
    }
    return false;
}

bool shim_native_kernel_is(const struct shim_native_kernel *kernel, const uint8_t *code,
                           uint64_t size_bytes)
{
    if (size_bytes < kernel->text_bytes)
        return false;
    if (memcmp(kernel->text, code, kernel->text_bytes) == 0)
        return true;
    if (kernel->relocation_count == 0)
        return false;
    for (uint64_t at = 0; at < kernel->text_bytes; at++) {
        if (kernel->text[at] != code[at] && !is_patched(kernel, at))
            return false;
    }
    return true;
}
