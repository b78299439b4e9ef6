// SPDX-License-Identifier: MIT
#include "device/library_search.h"

#include "base/alloc.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// A system has some thousand libraries; this is for a hundred thousand.
#define MAX_CACHE_BYTES ((size_t)16 << 20)
#define DELETED " (deleted)"

static const char *const system_folders[] = {"/lib/x86_64-linux-gnu",
                                             "/usr/lib/x86_64-linux-gnu",
                                             "/lib64",
                                             "/usr/lib64",
                                             "/lib",
                                             "/usr/lib",
                                             NULL};

const char *zepi_library_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// ---- What is loaded ----

struct collection {
    struct zepi_library_search *search;
    bool is_good;
};

// Under the loader's lock: nothing that could load anything.
static int add_loaded(struct dl_phdr_info *info, size_t size, void *user)
{
    struct collection *collection = user;
    struct zepi_library_search *search = collection->search;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
            continue;
        struct zepi_loaded_library *loaded =
            zepi_grow(search->loaded, search->loaded_count, &search->loaded_capacity,
                      sizeof(*search->loaded));
        char *name = loaded ? zepi_duplicate_string(info->dlpi_name) : NULL;
        if (loaded)
            search->loaded = loaded;
        collection->is_good = name != NULL;
        if (!name)
            return 1;
        const uintptr_t begin = info->dlpi_addr + segment->p_vaddr;
        loaded[search->loaded_count++] = (struct zepi_loaded_library){
            .begin = begin, .end = begin + segment->p_memsz, .name = name};
        break;
    }
    return 0;
}

static bool set_path(struct zepi_loaded_library *loaded, char *path)
{
    const size_t length = strlen(path);
    const size_t suffix = sizeof(DELETED) - 1;
    loaded->is_replaced = length > suffix && strcmp(path + length - suffix, DELETED) == 0;
    if (loaded->is_replaced)
        path[length - suffix] = '\0';
    loaded->path = zepi_duplicate_string(path);
    return loaded->path != NULL;
}

// "begin-end flags offset device inode    path"
static bool take_line(struct zepi_library_search *search, char *line)
{
    uintptr_t begin;
    uintptr_t end;
    char flags[8];
    int path_at = 0;
    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s %*s %*s %*s %n", &begin, &end, flags,
               &path_at) != 3 ||
        path_at == 0 || line[path_at] != '/' || !strchr(flags, 'x'))
        return true;
    for (size_t i = 0; i < search->loaded_count; i++) {
        struct zepi_loaded_library *loaded = &search->loaded[i];
        // Segments begin inside a page, mappings at its start.
        if (!loaded->path && loaded->begin >= begin && loaded->begin < end)
            return set_path(loaded, line + path_at);
    }
    return true;
}

// Takes every line of the file. False without memory.
static bool take_lines(struct zepi_library_search *search, int fd)
{
    char buffer[PATH_MAX + 256];
    size_t filled = 0;
    ssize_t count;
    // A line longer than any path fills the buffer: then it cannot be told what follows.
    while (filled < sizeof(buffer) &&
           (count = zepi_seam_read(fd, buffer + filled, sizeof(buffer) - filled)) > 0) {
        char *line = buffer;
        char *newline;
        filled += (size_t)count;
        while ((newline = memchr(line, '\n', filled - (size_t)(line - buffer)))) {
            *newline = '\0';
            if (!take_line(search, line))
                return false;
            line = newline + 1;
        }
        filled -= (size_t)(line - buffer);
        memmove(buffer, line, filled);
    }
    return true;
}

static bool read_loaded(struct zepi_library_search *search,
                        const struct zepi_library_places *places)
{
    struct collection collection = {search, true};
    (places->for_each_loaded ? places->for_each_loaded : dl_iterate_phdr)(add_loaded, &collection);
    if (!collection.is_good)
        return false;
    const int fd = zepi_seam_open(
        AT_FDCWD, places->maps_file ? places->maps_file : "/proc/self/maps", O_RDONLY, 0);
    if (fd < 0)
        return true;
    const bool is_good = take_lines(search, fd);
    close(fd);
    return is_good;
}

const struct zepi_loaded_library *zepi_library_at_address(const struct zepi_library_search *search,
                                                          const void *address)
{
    for (size_t i = 0; i < search->loaded_count; i++) {
        if ((uintptr_t)address >= search->loaded[i].begin &&
            (uintptr_t)address < search->loaded[i].end)
            return &search->loaded[i];
    }
    return NULL;
}

static enum zepi_library_found find_loaded(const struct zepi_library_search *search,
                                           const char *name, char out_path[PATH_MAX])
{
    for (size_t i = 0; i < search->loaded_count; i++) {
        const struct zepi_loaded_library *loaded = &search->loaded[i];
        const char *path = loaded->path ? loaded->path : loaded->name;
        if (strcmp(zepi_library_base_name(loaded->name), name) != 0 || strlen(path) >= PATH_MAX)
            continue;
        memcpy(out_path, path, strlen(path) + 1);
        return loaded->is_replaced ? ZEPI_LIBRARY_REPLACED : ZEPI_LIBRARY_FOUND;
    }
    return ZEPI_LIBRARY_MISSING;
}

// ---- The loader's cache ----

// The file format of glibc: head, entries, strings. Offsets count from the head.
struct cache_head {
    char magic[20]; // with the version
    uint32_t entry_count;
    uint32_t strings_size_bytes;
    uint32_t unused[5];
};
struct cache_entry {
    uint32_t flags;
    uint32_t name_at;
    uint32_t path_at;
    uint32_t os_version;
    uint64_t hardware; // 0: for every processor
};
static const char cache_magic[20] = "glibc-ld.so.cache1.1";

static bool read_cache(struct zepi_library_search *search, const char *file)
{
    struct stat info;
    const int fd = zepi_seam_open(AT_FDCWD, file, O_RDONLY, 0);
    if (fd < 0)
        return true;
    bool is_good = true;
    if (zepi_seam_stat(fd, &info) == 0 && info.st_size > 0 &&
        (size_t)info.st_size <= MAX_CACHE_BYTES) {
        search->cache = zepi_allocate(1, (size_t)info.st_size + 1);
        is_good = search->cache != NULL;
    }
    while (search->cache && search->cache_size_bytes < (size_t)info.st_size) {
        const ssize_t count = zepi_seam_read(fd, search->cache + search->cache_size_bytes,
                                             (size_t)info.st_size - search->cache_size_bytes);
        if (count <= 0)
            break;
        search->cache_size_bytes += (size_t)count;
    }
    close(fd);
    return is_good;
}

// Whether the file can be what the loader would take: 64 bits, this byte order. Wrong ones are
// passed over by the loader, too.
static bool is_library(const char *path)
{
    unsigned char head[EI_NIDENT];
    const int fd = zepi_seam_open(AT_FDCWD, path, O_RDONLY, 0);
    if (fd < 0)
        return false;
    const bool is_good = zepi_seam_read(fd, head, sizeof(head)) == (ssize_t)sizeof(head) &&
                         memcmp(head, ELFMAG, SELFMAG) == 0 && head[EI_CLASS] == ELFCLASS64;
    close(fd);
    return is_good;
}

static bool find_in_cache(const struct zepi_library_search *search, const char *name,
                          char out_path[PATH_MAX])
{
    struct cache_head head;
    struct cache_entry entry;
    const size_t size = search->cache_size_bytes;
    if (size < sizeof(head))
        return false;
    memcpy(&head, search->cache, sizeof(head));
    if (memcmp(head.magic, cache_magic, sizeof(cache_magic)) != 0 ||
        head.entry_count > (size - sizeof(head)) / sizeof(entry))
        return false;
    for (uint32_t i = 0; i < head.entry_count; i++) {
        memcpy(&entry, search->cache + sizeof(head) + i * sizeof(entry), sizeof(entry));
        // The byte after the last one is a zero of ours.
        if (entry.hardware != 0 || entry.name_at >= size || entry.path_at >= size ||
            strcmp(search->cache + entry.name_at, name) != 0)
            continue;
        const char *path = search->cache + entry.path_at;
        if (strlen(path) < PATH_MAX && is_library(path)) {
            memcpy(out_path, path, strlen(path) + 1);
            return true;
        }
    }
    return false;
}

// ---- Folders ----

static bool try_folder(const char *folder, size_t folder_length, const char *name,
                       char out_path[PATH_MAX])
{
    const int length = snprintf(out_path, PATH_MAX, "%.*s/%s", (int)folder_length, folder, name);
    return length > 0 && length < PATH_MAX && is_library(out_path);
}

// $ORIGIN and ${ORIGIN} at the beginning, where they are in practice.
static size_t skip_origin(const char *folder, size_t length)
{
    static const char *const words[] = {"$ORIGIN", "${ORIGIN}"};
    for (size_t i = 0; i < 2; i++) {
        const size_t word = strlen(words[i]);
        if (length >= word && strncmp(folder, words[i], word) == 0)
            return word;
    }
    return 0;
}

// Without the slash at the end.
static int folder_length_of(const char *path)
{
    const int length = (int)(zepi_library_base_name(path) - path);
    return length > 0 ? length - 1 : 0;
}

// Folders with colons (or, in LD_LIBRARY_PATH, semicolons) between them. An empty one is the
// working directory.
static bool try_folders(const char *folders, const char *origin_path, const char *name,
                        char out_path[PATH_MAX])
{
    char folder[PATH_MAX];
    while (folders && *folders) {
        const size_t length = strcspn(folders, ":;");
        const size_t origin = origin_path ? skip_origin(folders, length) : 0;
        int written;
        if (origin > 0)
            written = snprintf(folder, sizeof(folder), "%.*s%.*s", folder_length_of(origin_path),
                               origin_path, (int)(length - origin), folders + origin);
        else
            written = snprintf(folder, sizeof(folder), "%.*s", (int)(length ? length : 1),
                               length ? folders : ".");
        if (written > 0 && (size_t)written < sizeof(folder) &&
            try_folder(folder, (size_t)written, name, out_path))
            return true;
        folders += length;
        folders += *folders != '\0';
    }
    return false;
}

bool zepi_library_search_init(struct zepi_library_search *search,
                              const struct zepi_library_places *places)
{
    *search = (struct zepi_library_search){
        .library_path = places->library_path ? places->library_path : getenv("LD_LIBRARY_PATH"),
        .default_folders = places->default_folders ? places->default_folders : system_folders};
    if (read_loaded(search, places) &&
        read_cache(search, places->cache_file ? places->cache_file : "/etc/ld.so.cache"))
        return true;
    zepi_library_search_finish(search);
    return false;
}

void zepi_library_search_finish(struct zepi_library_search *search)
{
    for (size_t i = 0; i < search->loaded_count; i++) {
        zepi_free(search->loaded[i].name);
        zepi_free(search->loaded[i].path);
    }
    zepi_free(search->loaded);
    zepi_free(search->cache);
    *search = (struct zepi_library_search){0};
}

enum zepi_library_found zepi_library_find(const struct zepi_library_search *search,
                                          const char *name,
                                          const struct zepi_library_opener *opener,
                                          char out_path[PATH_MAX])
{
    const enum zepi_library_found loaded =
        find_loaded(search, zepi_library_base_name(name), out_path);
    if (loaded != ZEPI_LIBRARY_MISSING)
        return loaded;
    if (strchr(name, '/')) {
        const bool is_there = strlen(name) < PATH_MAX && is_library(name);
        if (is_there)
            memcpy(out_path, name, strlen(name) + 1);
        return is_there ? ZEPI_LIBRARY_FOUND : ZEPI_LIBRARY_MISSING;
    }
    if (opener->is_rpath && try_folders(opener->folders, opener->path, name, out_path))
        return ZEPI_LIBRARY_FOUND;
    if (try_folders(search->library_path, NULL, name, out_path))
        return ZEPI_LIBRARY_FOUND;
    if (!opener->is_rpath && try_folders(opener->folders, opener->path, name, out_path))
        return ZEPI_LIBRARY_FOUND;
    if (find_in_cache(search, name, out_path))
        return ZEPI_LIBRARY_FOUND;
    for (const char *const *folder = search->default_folders; *folder; folder++) {
        if (try_folder(*folder, strlen(*folder), name, out_path))
            return ZEPI_LIBRARY_FOUND;
    }
    return ZEPI_LIBRARY_MISSING;
}
