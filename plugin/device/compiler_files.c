// SPDX-License-Identifier: MIT
#include "device/compiler_files.h"

#include "base/alloc.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Intel's graphics compiler and its front end. Which of them a driver asks for is written in the
// driver; all that are there count, so that nothing depends on what happens to be loaded.
const char *const zepi_compiler_names[] = {"libigc.so.1",    "libigc.so.2",    "libigc.so.3",
                                           "libigc.so.4",    "libigdfcl.so.1", "libigdfcl.so.2",
                                           "libigdfcl.so.3", "libigdfcl.so.4", NULL};

// Beginnings of the names of libraries that generate code.
static const char *const generators[] = {
    "libigc.so", "libigdfcl.so",       "libiga",    "libopencl-clang.so", "libLLVM", "libclang",
    "libSPIRV",  "libcommon_clang.so", "libOclCpu", "libintelocl.so",     "libpocl", NULL};

// And of files that an OpenCL runtime keeps beside itself and builds into the code.
static const char *const runtime_files[] = {
    "clbltfn", "cllibrary", "libocl_svml_", "__ocl_svml_", "libOclCpu", "cl.cfg", NULL};

static bool begins_with_one_of(const char *name, const char *const *beginnings)
{
    for (; *beginnings; beginnings++) {
        if (strncmp(name, *beginnings, strlen(*beginnings)) == 0)
            return true;
    }
    return false;
}

static int64_t to_ns(struct timespec time)
{
    return (int64_t)time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

// False without memory. The same name always finds the same file: it is listed once.
static bool add(struct zepi_compiler_files *files, const char *name, const char *path)
{
    struct stat info;
    for (size_t i = 0; i < files->count; i++) {
        if (strcmp(files->files[i].name, name) == 0)
            return true;
    }
    if (strlen(name) >= sizeof(files->files[0].name) || stat(path, &info) != 0 ||
        !S_ISREG(info.st_mode)) {
        files->is_exact = false;
        return true;
    }
    struct zepi_compiler_file *grown =
        zepi_grow(files->files, files->count, &files->capacity, sizeof(*grown));
    if (!grown)
        return false;
    files->files = grown;
    struct zepi_compiler_file *file = &grown[files->count];
    *file = (struct zepi_compiler_file){.path = zepi_duplicate_string(path),
                                        .device = info.st_dev,
                                        .inode = info.st_ino,
                                        .size_bytes = (uint64_t)info.st_size,
                                        .modified_ns = to_ns(info.st_mtim),
                                        .changed_ns = to_ns(info.st_ctim)};
    if (!file->path)
        return false;
    memcpy(file->name, name, strlen(name) + 1);
    files->count++;
    return true;
}

// A file that asks for others.
struct asking {
    struct zepi_compiler_files *files;
    const struct zepi_library_search *search;
    struct zepi_elf_needs needs;
    size_t index;
    bool is_good;
};

// Looks for one library. One that is nowhere is none that the loader would take.
static bool find(struct asking *asking, const char *name)
{
    char path[PATH_MAX];
    const struct zepi_library_opener opener = {.path = asking->files->files[asking->index].path,
                                               .folders = asking->needs.folders,
                                               .is_rpath = asking->needs.is_rpath};
    const enum zepi_library_found found = zepi_library_find(asking->search, name, &opener, path);
    if (found == ZEPI_LIBRARY_MISSING)
        return true;
    if (found == ZEPI_LIBRARY_REPLACED)
        asking->files->is_exact = false;
    asking->files->has_compiler = true;
    asking->is_good = add(asking->files, name, path);
    return asking->is_good;
}

static bool visit_needed(void *user, const char *name)
{
    return !begins_with_one_of(name, generators) || find(user, name);
}

static bool follow_needs(struct asking *asking)
{
    const int fd = zepi_seam_open(AT_FDCWD, asking->files->files[asking->index].path, O_RDONLY, 0);
    if (fd < 0) {
        asking->files->is_exact = false;
        return true;
    }
    // What is no library needs none.
    (void)zepi_elf_read_needs(fd, &asking->needs, visit_needed, asking);
    close(fd);
    return asking->is_good;
}

// Names that the driver asks for at run time, then what everything found needs, in turn.
static bool find_all(struct asking *asking, bool asks_for_compiler)
{
    for (; asking->index < asking->files->count; asking->index++) {
        const char *const *name = zepi_compiler_names;
        if (!follow_needs(asking))
            return false;
        for (; asks_for_compiler && asking->index == 0 && *name; name++) {
            if (!find(asking, *name))
                return false;
        }
    }
    return true;
}

static bool add_beside(struct zepi_compiler_files *files, const char *runtime)
{
    char path[PATH_MAX];
    const size_t length = (size_t)(zepi_library_base_name(runtime) - runtime);
    if (length >= sizeof(path))
        return true;
    memcpy(path, runtime, length);
    path[length] = '\0';
    const int folder = zepi_seam_open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
    DIR *listing = folder >= 0 ? zepi_seam_list(folder) : NULL;
    const struct dirent *entry;
    bool is_good = true;
    files->is_exact = files->is_exact && listing;
    while (listing && is_good && (entry = readdir(listing))) {
        const size_t size = strlen(entry->d_name) + 1;
        if (!begins_with_one_of(entry->d_name, runtime_files) || length + size > sizeof(path))
            continue;
        memcpy(path + length, entry->d_name, size);
        is_good = add(files, entry->d_name, path);
    }
    if (listing)
        closedir(listing);
    if (folder >= 0)
        close(folder);
    return is_good;
}

static int compare(const void *left, const void *right)
{
    return strcmp(((const struct zepi_compiler_file *)left)->name,
                  ((const struct zepi_compiler_file *)right)->name);
}

bool zepi_compiler_files_init(struct zepi_compiler_files *files,
                              const struct zepi_library_search *search,
                              const struct zepi_compiler_roots *roots)
{
    *files = (struct zepi_compiler_files){.is_exact = true, .has_compiler = roots->runtime != NULL};
    struct asking asking = {.files = files, .search = search, .is_good = true};
    bool is_good = add(files, zepi_library_base_name(roots->driver), roots->driver);
    if (is_good && roots->runtime)
        is_good = add(files, zepi_library_base_name(roots->runtime), roots->runtime) &&
                  add_beside(files, roots->runtime);
    if (!is_good || !find_all(&asking, !roots->runtime)) {
        zepi_compiler_files_finish(files);
        return false;
    }
    if (files->count > 0)
        qsort(files->files, files->count, sizeof(files->files[0]), compare);
    return true;
}

void zepi_compiler_files_finish(struct zepi_compiler_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        zepi_free(files->files[i].path);
    zepi_free(files->files);
    *files = (struct zepi_compiler_files){0};
}
