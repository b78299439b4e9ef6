// SPDX-License-Identifier: MIT
#include "device/elf_needs.h"

#include <elf.h>
#include <endian.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

// More than any library has; a damaged count costs no more than this.
#define MAX_SEGMENTS 64
#define MAX_DYNAMIC 512

struct elf {
    int fd;
    uint32_t segment_count;
    Elf64_Phdr segments[MAX_SEGMENTS];
    size_t dynamic_count;
    Elf64_Dyn dynamic[MAX_DYNAMIC];
    uint64_t strings_at; // in the file
    uint64_t strings_size_bytes;
};

static bool read_at(int fd, uint64_t at, void *bytes, size_t size_bytes)
{
    return at <= INT64_MAX - size_bytes &&
           pread(fd, bytes, size_bytes, (off_t)at) == (ssize_t)size_bytes;
}

static bool read_segments(struct elf *elf)
{
    const unsigned char order = BYTE_ORDER == LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;
    Elf64_Ehdr head;
    if (!read_at(elf->fd, 0, &head, sizeof(head)) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != order ||
        head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phnum > MAX_SEGMENTS)
        return false;
    elf->segment_count = head.e_phnum;
    return read_at(elf->fd, head.e_phoff, elf->segments,
                   elf->segment_count * sizeof(elf->segments[0]));
}

static bool read_dynamic(struct elf *elf)
{
    for (uint32_t i = 0; i < elf->segment_count; i++) {
        const Elf64_Phdr *segment = &elf->segments[i];
        if (segment->p_type != PT_DYNAMIC)
            continue;
        elf->dynamic_count = segment->p_filesz / sizeof(elf->dynamic[0]);
        if (elf->dynamic_count > MAX_DYNAMIC)
            elf->dynamic_count = MAX_DYNAMIC;
        return read_at(elf->fd, segment->p_offset, elf->dynamic,
                       elf->dynamic_count * sizeof(elf->dynamic[0]));
    }
    return false;
}

// Where a loaded address is in the file.
static bool find_in_file(const struct elf *elf, uint64_t address, uint64_t *out_at)
{
    for (uint32_t i = 0; i < elf->segment_count; i++) {
        const Elf64_Phdr *segment = &elf->segments[i];
        if (segment->p_type == PT_LOAD && address >= segment->p_vaddr &&
            address - segment->p_vaddr < segment->p_filesz) {
            *out_at = segment->p_offset + (address - segment->p_vaddr);
            return true;
        }
    }
    return false;
}

static const Elf64_Dyn *find_entry(const struct elf *elf, int64_t tag)
{
    for (size_t i = 0; i < elf->dynamic_count && elf->dynamic[i].d_tag != DT_NULL; i++) {
        if (elf->dynamic[i].d_tag == tag)
            return &elf->dynamic[i];
    }
    return NULL;
}

static bool find_strings(struct elf *elf)
{
    const Elf64_Dyn *strings = find_entry(elf, DT_STRTAB);
    const Elf64_Dyn *size = find_entry(elf, DT_STRSZ);
    if (!strings || !size)
        return false;
    elf->strings_size_bytes = size->d_un.d_val;
    return find_in_file(elf, strings->d_un.d_ptr, &elf->strings_at);
}

// False if the string does not fit, or lies outside.
static bool read_string(const struct elf *elf, uint64_t offset, char *out, size_t room)
{
    if (offset >= elf->strings_size_bytes)
        return false;
    const uint64_t left = elf->strings_size_bytes - offset;
    const size_t size = left < room ? (size_t)left : room;
    return elf->strings_at <= UINT64_MAX - offset &&
           read_at(elf->fd, elf->strings_at + offset, out, size) && memchr(out, '\0', size);
}

bool zepi_elf_read_needs(int fd, struct zepi_elf_needs *out_needs,
                         bool (*visit)(void *user, const char *name), void *user)
{
    struct elf elf = {.fd = fd};
    char name[ZEPI_ELF_NAME_BYTES];
    out_needs->folders[0] = '\0';
    out_needs->is_rpath = false;
    if (!read_segments(&elf) || !read_dynamic(&elf) || !find_strings(&elf))
        return false;
    const Elf64_Dyn *folders = find_entry(&elf, DT_RUNPATH);
    if (!folders) {
        folders = find_entry(&elf, DT_RPATH);
        out_needs->is_rpath = folders != NULL;
    }
    if (folders &&
        !read_string(&elf, folders->d_un.d_val, out_needs->folders, sizeof(out_needs->folders)))
        out_needs->folders[0] = '\0';
    for (size_t i = 0; i < elf.dynamic_count && elf.dynamic[i].d_tag != DT_NULL; i++) {
        if (elf.dynamic[i].d_tag == DT_NEEDED &&
            read_string(&elf, elf.dynamic[i].d_un.d_val, name, sizeof(name)) && !visit(user, name))
            break;
    }
    return true;
}
