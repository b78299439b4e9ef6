// SPDX-License-Identifier: MIT
#ifndef ZEPI_DEVICE_LIBRARY_SEARCH_H
#define ZEPI_DEVICE_LIBRARY_SEARCH_H

#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Where the dynamic loader finds a library that another library asks for by name, without loading
// it: what is loaded already; DT_RPATH, LD_LIBRARY_PATH, DT_RUNPATH; the loader's cache; its
// default folders. Variants for newer processors (glibc-hwcaps) are found only if they are loaded.

// Where to look; NULL members are the system's own.
struct zepi_library_places {
    int (*for_each_loaded)(int (*visit)(struct dl_phdr_info *info, size_t size, void *user),
                           void *user); // dl_iterate_phdr
    const char *maps_file;              // /proc/self/maps
    const char *library_path;           // of LD_LIBRARY_PATH
    const char *cache_file;             // /etc/ld.so.cache
    const char *const *default_folders; // ended by NULL
};

// A library of this process.
struct zepi_loaded_library {
    uintptr_t begin; // of its first segment with code
    uintptr_t end;
    char *name;       // owned; the path that the loader opened
    char *path;       // owned; the file itself, absolute, no link; NULL: not known
    bool is_replaced; // that file was unlinked or renamed over since
};

struct zepi_library_search {
    const char *library_path; // borrowed
    const char *const *default_folders;
    struct zepi_loaded_library *loaded; // owned
    size_t loaded_count;
    size_t loaded_capacity;
    char *cache; // owned
    size_t cache_size_bytes;
};

// Takes in what is loaded at this moment. False without memory (nothing is left).
bool zepi_library_search_init(struct zepi_library_search *search,
                              const struct zepi_library_places *places);
void zepi_library_search_finish(struct zepi_library_search *search);

// Who asks for a library.
struct zepi_library_opener {
    const char *path;
    const char *folders; // DT_RUNPATH or DT_RPATH, may be ""
    bool is_rpath;
};

enum zepi_library_found {
    ZEPI_LIBRARY_MISSING,
    ZEPI_LIBRARY_FOUND,
    ZEPI_LIBRARY_REPLACED, // loaded, but its file is another one by now
};

// Finds `name`, a file name or a path.
enum zepi_library_found zepi_library_find(const struct zepi_library_search *search,
                                          const char *name,
                                          const struct zepi_library_opener *opener,
                                          char out_path[PATH_MAX]);

// The library that an address belongs to, or NULL.
const struct zepi_loaded_library *zepi_library_at_address(const struct zepi_library_search *search,
                                                          const void *address);

// A path without its folders.
const char *zepi_library_base_name(const char *path);

#endif
