// SPDX-License-Identifier: MIT
#include "device/compiler_libraries.h"

#include "core/sys.h"

#include <assert.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

// Beginnings of the names of libraries that generate code. The first is the compiler itself.
static const char *const gpu_compilers[] = {
    "libigc.so", "libigdfcl.so", "libiga", "libopencl-clang.so", "libLLVM", "libclang", NULL};
static const char *const cpu_compilers[] = {
    "libintelocl.so", "libcommon_clang.so", "libOclCpu", "libpocl", "libLLVM", "libclang", NULL};

static_assert(sizeof(struct zepi_compiler_library) ==
                  ZEPI_LIBRARY_PATH_BYTES + ZEPI_BUILD_ID_BYTES + 4 * sizeof(uint64_t),
              "no padding");

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool begins_with(const char *name, const char *beginning)
{
    return strncmp(name, beginning, strlen(beginning)) == 0;
}

static bool begins_with_one_of(const char *name, const char *const *beginnings)
{
    for (; *beginnings; beginnings++) {
        if (begins_with(name, *beginnings))
            return true;
    }
    return false;
}

static bool is_compiler(const char *path)
{
    return begins_with(base_name(path), gpu_compilers[0]) ||
           begins_with(base_name(path), cpu_compilers[0]);
}

// ---- One library ----

static size_t round_up_note(size_t size, size_t alignment)
{
    return (size + alignment - 1) / alignment * alignment;
}

static bool find_build_id(const uint8_t *notes, size_t size, size_t alignment,
                          uint8_t out_build_id[ZEPI_BUILD_ID_BYTES])
{
    ElfW(Nhdr) head;
    for (size_t at = 0; at < size && size - at >= sizeof(head);) {
        memcpy(&head, notes + at, sizeof(head));
        const size_t name_at = at + sizeof(head);
        const size_t id_at = at + round_up_note(sizeof(head) + head.n_namesz, alignment);
        if (id_at > size || head.n_descsz > size - id_at)
            return false;
        if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == sizeof(ELF_NOTE_GNU) &&
            memcmp(notes + name_at, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0) {
            memcpy(out_build_id, notes + id_at,
                   head.n_descsz < ZEPI_BUILD_ID_BYTES ? head.n_descsz : ZEPI_BUILD_ID_BYTES);
            return true;
        }
        at = round_up_note(id_at + head.n_descsz, alignment);
    }
    return false;
}

static void read_build_id(const struct dl_phdr_info *info, struct zepi_compiler_library *library)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        const uint8_t *notes = (const uint8_t *)(info->dlpi_addr + segment->p_vaddr);
        if (segment->p_type == PT_NOTE &&
            find_build_id(notes, segment->p_memsz, segment->p_align == 8 ? 8 : 4,
                          library->build_id))
            return;
    }
}

// Whether the file is the library that is loaded, and no other that took its place: the first page
// says so, with the sizes of all segments and the build id.
static bool is_loaded_file(int fd, const struct dl_phdr_info *info)
{
    uint8_t page[4096];
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || segment->p_offset != 0)
            continue;
        const size_t size = segment->p_filesz < sizeof(page) ? segment->p_filesz : sizeof(page);
        const void *loaded = (const void *)(info->dlpi_addr + segment->p_vaddr);
        return zepi_sys_read(fd, page, size) == (ssize_t)size && memcmp(page, loaded, size) == 0;
    }
    return false;
}

static int64_t timespec_to_ns(struct timespec time)
{
    return (int64_t)time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static bool read_file(int fd, struct zepi_compiler_library *library)
{
    struct stat info;
    if (zepi_sys_stat(fd, &info) != 0 || !S_ISREG(info.st_mode))
        return false;
    library->inode = info.st_ino;
    library->size_bytes = (uint64_t)info.st_size;
    library->modified_ns = timespec_to_ns(info.st_mtim);
    library->changed_ns = timespec_to_ns(info.st_ctim);
    return true;
}

static bool library_identify(const struct dl_phdr_info *info, struct zepi_compiler_library *library)
{
    memset(library, 0, sizeof(*library));
    if (strlen(info->dlpi_name) >= sizeof(library->path))
        return false;
    memcpy(library->path, info->dlpi_name, strlen(info->dlpi_name));
    read_build_id(info, library);
    const int fd = zepi_sys_open(AT_FDCWD, library->path, O_RDONLY, 0);
    if (fd < 0)
        return false;
    const bool is_good = read_file(fd, library) && is_loaded_file(fd, info);
    close(fd);
    return is_good;
}

// ---- All of them ----

struct listing {
    struct zepi_compiler_libraries *libraries;
    const char *driver_path;
    const char *const *compilers;
    bool has_driver;
    bool has_failed;
};

// The dynamic loader's lock is held, so that nothing is unloaded meanwhile.
static int visit_loaded_library(struct dl_phdr_info *info, size_t size, void *user)
{
    struct listing *listing = user;
    struct zepi_compiler_libraries *libraries = listing->libraries;
    const bool is_driver = strcmp(info->dlpi_name, listing->driver_path) == 0;
    (void)size;
    // The program itself has no name.
    if (!info->dlpi_name[0] ||
        (!is_driver && !begins_with_one_of(base_name(info->dlpi_name), listing->compilers)))
        return 0;
    listing->has_driver = listing->has_driver || is_driver;
    listing->has_failed = libraries->count == ZEPI_COMPILER_LIBRARIES_MAX ||
                          !library_identify(info, &libraries->list[libraries->count]);
    libraries->count += !listing->has_failed;
    libraries->has_compiler = libraries->has_compiler || is_compiler(info->dlpi_name);
    return listing->has_failed;
}

bool zepi_compiler_libraries_list(struct zepi_compiler_libraries *libraries,
                                  const char *driver_path, enum zepi_compiler_kind kind)
{
    struct listing listing = {.libraries = libraries,
                              .driver_path = driver_path,
                              .compilers =
                                  kind == ZEPI_COMPILER_OF_CPU ? cpu_compilers : gpu_compilers};
    libraries->count = 0;
    libraries->has_compiler = false;
    dl_iterate_phdr(visit_loaded_library, &listing);
    return listing.has_driver && !listing.has_failed;
}

bool zepi_compiler_libraries_are_unchanged(const struct zepi_compiler_libraries *libraries)
{
    bool are_unchanged = true;
    for (uint32_t i = 0; i < libraries->count && are_unchanged; i++) {
        struct zepi_compiler_library now = libraries->list[i];
        const int fd = zepi_sys_open(AT_FDCWD, now.path, O_RDONLY, 0);
        are_unchanged =
            fd >= 0 && read_file(fd, &now) && memcmp(&now, &libraries->list[i], sizeof(now)) == 0;
        if (fd >= 0)
            close(fd);
    }
    return are_unchanged;
}

bool zepi_compiler_libraries_agree(const struct zepi_compiler_libraries *libraries,
                                   const struct zepi_compiler_libraries *loaded)
{
    for (uint32_t i = 0; i < loaded->count; i++) {
        const struct zepi_compiler_library *a = &loaded->list[i];
        bool is_new = true;
        for (uint32_t j = 0; j < libraries->count; j++) {
            const struct zepi_compiler_library *b = &libraries->list[j];
            if (strcmp(base_name(a->path), base_name(b->path)) != 0)
                continue;
            if (memcmp(a, b, sizeof(*a)) != 0)
                return false;
            is_new = false;
        }
        if (is_new && is_compiler(a->path))
            return false;
    }
    return true;
}

struct zepi_digest zepi_compiler_libraries_digest(const struct zepi_compiler_libraries *libraries)
{
    static const uint8_t none[ZEPI_BUILD_ID_BYTES];
    struct zepi_digest sum = {0};
    for (uint32_t i = 0; i < libraries->count; i++) {
        const struct zepi_compiler_library *library = &libraries->list[i];
        const char *name = base_name(library->path);
        const bool has_build_id = memcmp(library->build_id, none, sizeof(none)) != 0;
        const uint64_t file[] = {library->inode, library->size_bytes,
                                 (uint64_t)library->modified_ns, (uint64_t)library->changed_ns};
        const struct zepi_digest_part parts[] = {{name, strlen(name) + 1},
                                                 {library->build_id, sizeof(library->build_id)},
                                                 {file, has_build_id ? 0 : sizeof(file)}};
        const struct zepi_digest digest = zepi_digest_of_parts(parts, 3);
        sum.low += digest.low;
        sum.high += digest.high;
    }
    return sum;
}
