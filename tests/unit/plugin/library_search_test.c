// SPDX-License-Identifier: MIT
// Where a driver's compiler is found, in a tree of folders made for it.
#include "device/compiler_files.h"
#include "test_env.h"

#include <criterion/criterion.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- Libraries: an ELF head, one loaded segment, the dynamic section ----

struct library {
    Elf64_Ehdr head;
    Elf64_Phdr segments[2];
    Elf64_Dyn dynamic[6];
    char strings[256];
};

static size_t add_string(struct library *library, size_t *length, const char *text)
{
    const size_t at = *length;
    memcpy(library->strings + at, text, strlen(text) + 1);
    *length += strlen(text) + 1;
    return at;
}

// A library that needs up to two others and has a list of folders with this tag.
static struct library make_library(const char *first, const char *second, int64_t folders_tag,
                                   const char *folders)
{
    struct library library = {0};
    size_t length = 1;
    unsigned count = 0;
    memcpy(library.head.e_ident, ELFMAG, SELFMAG);
    library.head.e_ident[EI_CLASS] = ELFCLASS64;
    library.head.e_ident[EI_DATA] = ELFDATA2LSB;
    library.head.e_phoff = offsetof(struct library, segments);
    library.head.e_phentsize = sizeof(Elf64_Phdr);
    library.head.e_phnum = 2;
    library.segments[0] =
        (Elf64_Phdr){.p_type = PT_LOAD, .p_vaddr = 0x1000, .p_filesz = sizeof(library)};
    library.segments[1] = (Elf64_Phdr){.p_type = PT_DYNAMIC,
                                       .p_offset = offsetof(struct library, dynamic),
                                       .p_filesz = sizeof(library.dynamic)};
    if (first)
        library.dynamic[count++] = (Elf64_Dyn){DT_NEEDED, {add_string(&library, &length, first)}};
    if (second)
        library.dynamic[count++] = (Elf64_Dyn){DT_NEEDED, {add_string(&library, &length, second)}};
    if (folders)
        library.dynamic[count++] =
            (Elf64_Dyn){folders_tag, {add_string(&library, &length, folders)}};
    library.dynamic[count++] = (Elf64_Dyn){DT_STRTAB, {0x1000 + offsetof(struct library, strings)}};
    library.dynamic[count++] = (Elf64_Dyn){DT_STRSZ, {sizeof(library.strings)}};
    return library;
}

static char *write_library(const char *path, const struct library *library)
{
    char *whole = strdup(test_env_scratch_path(path));
    for (char *slash = strchr(whole + strlen(test_env_scratch()) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(whole, 0700);
        *slash = '/';
    }
    FILE *file = fopen(whole, "wb");
    cr_assert(file && fwrite(library, sizeof(*library), 1, file) == 1);
    fclose(file);
    return whole;
}

// A library without needs.
static char *write_plain(const char *path)
{
    const struct library plain = make_library(NULL, NULL, 0, NULL);
    return write_library(path, &plain);
}

// ---- A search in that tree ----

static int nothing_is_loaded(int (*visit)(struct dl_phdr_info *, size_t, void *), void *user)
{
    (void)visit;
    (void)user;
    return 0;
}

static const char *loaded_name; // of the one library that is

static int one_is_loaded(int (*visit)(struct dl_phdr_info *, size_t, void *), void *user)
{
    const Elf64_Phdr segment = {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_memsz = 0x1000};
    struct dl_phdr_info info = {
        .dlpi_addr = 0x7000000, .dlpi_name = loaded_name, .dlpi_phdr = &segment, .dlpi_phnum = 1};
    return visit(&info, sizeof(info), user);
}

static struct zepi_library_places places(const char *library_path, const char *const *defaults)
{
    static const char *const none[] = {NULL};
    return (struct zepi_library_places){.for_each_loaded = nothing_is_loaded,
                                        .maps_file = "/nowhere",
                                        .cache_file = "/nowhere",
                                        .library_path = library_path ? library_path : "",
                                        .default_folders = defaults ? defaults : none};
}

static void expect_found(const struct zepi_library_places *where,
                         const struct zepi_library_opener *opener, const char *name,
                         const char *path)
{
    char found[PATH_MAX] = "";
    struct zepi_library_search search;
    cr_assert(zepi_library_search_init(&search, where));
    const enum zepi_library_found answer = zepi_library_find(&search, name, opener, found);
    cr_assert_eq(answer, path ? ZEPI_LIBRARY_FOUND : ZEPI_LIBRARY_MISSING);
    if (path)
        cr_assert_str_eq(found, path);
    zepi_library_search_finish(&search);
}

Test(library_search, looks_in_the_order_of_the_dynamic_loader)
{
    char *driver = write_plain("driver/libdriver.so");
    char *here = write_plain("run/libigc.so.1");
    char *there = write_plain("env/libigc.so.1");
    char *last = write_plain("default/libigc.so.1");
    const char *env = test_env_scratch_path("env");
    const char *const defaults[] = {test_env_scratch_path("default"), NULL};
    struct zepi_library_opener opener = {driver, "/nowhere:$ORIGIN/../run", false};
    const struct zepi_library_places with_env = places(env, defaults);
    const struct zepi_library_places without = places(NULL, defaults);
    char expected[PATH_MAX];
    snprintf(expected, sizeof(expected), "%s/driver/../run/libigc.so.1", test_env_scratch());
    // LD_LIBRARY_PATH before DT_RUNPATH, DT_RPATH before both, default folders after all.
    expect_found(&with_env, &opener, "libigc.so.1", there);
    expect_found(&without, &opener, "libigc.so.1", expected);
    opener.is_rpath = true;
    expect_found(&with_env, &opener, "libigc.so.1", expected);
    opener.folders = "";
    expect_found(&without, &opener, "libigc.so.1", last);
    expect_found(&without, &opener, "libigc.so.2", NULL);
    expect_found(&without, &opener, here, here);
    free(driver);
    free(here);
    free(there);
    free(last);
}

Test(library_search, passes_over_what_is_no_library)
{
    char *wrong = write_plain("a/libigc.so.1");
    char *right = write_plain("b/libigc.so.1");
    char both[PATH_MAX];
    cr_assert_eq(truncate(wrong, 3), 0);
    snprintf(both, sizeof(both), "%s/a:%s/b", test_env_scratch(), test_env_scratch());
    const struct zepi_library_places where = places(both, NULL);
    const struct zepi_library_opener opener = {"/driver", "", false};
    expect_found(&where, &opener, "libigc.so.1", right);
    free(wrong);
    free(right);
}

Test(library_search, takes_what_is_loaded_before_anything_else)
{
    char *other = write_plain("env/libigc.so.1");
    struct zepi_library_places where = places(test_env_scratch_path("env"), NULL);
    const struct zepi_library_opener opener = {"/driver", "", false};
    const char *maps = test_env_scratch_path("maps");
    where.for_each_loaded = one_is_loaded;
    where.maps_file = maps;
    loaded_name = "/lib/libigc.so.1";
    FILE *file = fopen(maps, "w");
    fputs("06fff000-07000000 r--p 00000000 00:00 0\n"
          "07000000-07001000 r-xp 00000000 08:01 42    /real/with space/libigc.so.1.0.1\n",
          file);
    fclose(file);
    expect_found(&where, &opener, "libigc.so.1", "/real/with space/libigc.so.1.0.1");
    // Replaced since it was loaded: its file says nothing about it.
    char found[PATH_MAX];
    struct zepi_library_search search;
    file = fopen(maps, "w");
    fputs("07000000-07001000 r-xp 00000000 08:01 42    /real/libigc.so.1.0.1 (deleted)\n", file);
    fclose(file);
    cr_assert(zepi_library_search_init(&search, &where));
    cr_assert_eq(zepi_library_find(&search, "libigc.so.1", &opener, found), ZEPI_LIBRARY_REPLACED);
    cr_assert_not_null(zepi_library_at_address(&search, (void *)0x7000800));
    cr_assert_null(zepi_library_at_address(&search, (void *)0x7001000));
    zepi_library_search_finish(&search);
    free(other);
}

// ---- The loader's cache ----

static char *write_cache(const char *name, const char *path, uint32_t path_at)
{
    char *file_name = strdup(test_env_scratch_path("ld.so.cache"));
    uint32_t head[12] = {0};
    uint32_t entry[6] = {0x303, 72, path_at, 0, 0, 0};
    memcpy(head, "glibc-ld.so.cache1.1", 20);
    head[5] = 1;
    FILE *file = fopen(file_name, "wb");
    fwrite(head, sizeof(head), 1, file);
    fwrite(entry, sizeof(entry), 1, file);
    fwrite(name, strlen(name) + 1, 1, file);
    fwrite(path, strlen(path) + 1, 1, file);
    fclose(file);
    return file_name;
}

Test(library_search, reads_the_loaders_cache_and_believes_nothing_in_it)
{
    char *library = write_plain("somewhere/libigc.so.1");
    char *cache = write_cache("libigc.so.1", library, 72 + sizeof("libigc.so.1"));
    struct zepi_library_places where = places(NULL, NULL);
    const struct zepi_library_opener opener = {"/driver", "", false};
    where.cache_file = cache;
    expect_found(&where, &opener, "libigc.so.1", library);
    expect_found(&where, &opener, "libigc.so.2", NULL);
    struct stat info;
    cr_assert_eq(stat(cache, &info), 0);
    for (off_t size = info.st_size - 2; size >= 0; size--) {
        cr_assert_eq(truncate(cache, size), 0);
        expect_found(&where, &opener, "libigc.so.1", NULL);
    }
    free(write_cache("libigc.so.1", library, 0x7fffffff));
    expect_found(&where, &opener, "libigc.so.1", NULL);
    free(library);
    free(cache);
}

// ---- All of a compiler ----

static bool has_file(const struct zepi_compiler_files *files, const char *name)
{
    for (size_t i = 0; i < files->count; i++) {
        if (strcmp(files->files[i].name, name) == 0)
            return true;
    }
    return false;
}

Test(compiler_files, are_the_driver_its_compiler_and_what_that_needs)
{
    const struct library igc =
        make_library("libLLVM-14.so.1", "libc.so.6", DT_RUNPATH, "$ORIGIN/llvm");
    const struct library llvm = make_library("libLLVMSPIRVLib.so.14", "libLLVM-14.so.1", 0, NULL);
    free(write_library("env/libigc.so.2", &igc));
    free(write_library("env/llvm/libLLVM-14.so.1", &llvm));
    free(write_plain("env/libLLVMSPIRVLib.so.14"));
    free(write_plain("env/libc.so.6"));
    free(write_plain("env/libigdfcl.so.2"));
    char *driver = write_plain("driver/libze_intel_gpu.so.1");
    const struct zepi_library_places where = places(test_env_scratch_path("env"), NULL);
    const struct zepi_compiler_roots roots = {.driver = driver};
    struct zepi_library_search search;
    struct zepi_compiler_files files;
    cr_assert(zepi_library_search_init(&search, &where));
    cr_assert(zepi_compiler_files_init(&files, &search, &roots));
    cr_assert(files.is_exact && files.has_compiler);
    cr_assert_eq(files.count, 5);
    cr_assert(has_file(&files, "libze_intel_gpu.so.1") && has_file(&files, "libigc.so.2"));
    cr_assert(has_file(&files, "libLLVM-14.so.1") && has_file(&files, "libLLVMSPIRVLib.so.14"));
    cr_assert(has_file(&files, "libigdfcl.so.2") && !has_file(&files, "libc.so.6"));
    for (size_t i = 1; i < files.count; i++)
        cr_assert_lt(strcmp(files.files[i - 1].name, files.files[i].name), 0);
    zepi_compiler_files_finish(&files);
    zepi_library_search_finish(&search);
    free(driver);
}

Test(compiler_files, of_an_opencl_runtime_lie_beside_it)
{
    const struct library runtime =
        make_library("libcommon_clang.so.1", "libtbb.so.12", DT_RUNPATH, "$ORIGIN");
    char *path = write_library("ocl/libintelocl.so", &runtime);
    free(write_plain("ocl/libcommon_clang.so.1"));
    free(write_plain("ocl/libtbb.so.12"));
    free(write_plain("ocl/clbltfnz1.rtl"));
    free(write_plain("ocl/libocl_svml_z1.so"));
    char *driver = write_plain("driver/libze_cpu.so.1");
    const struct zepi_library_places where = places(NULL, NULL);
    const struct zepi_compiler_roots roots = {.driver = driver, .runtime = path};
    struct zepi_library_search search;
    struct zepi_compiler_files files;
    cr_assert(zepi_library_search_init(&search, &where));
    cr_assert(zepi_compiler_files_init(&files, &search, &roots));
    cr_assert(files.is_exact && files.has_compiler);
    cr_assert_eq(files.count, 5);
    cr_assert(!has_file(&files, "libtbb.so.12") && has_file(&files, "libcommon_clang.so.1"));
    zepi_compiler_files_finish(&files);
    zepi_library_search_finish(&search);
    free(path);
    free(driver);
}

Test(compiler_files, that_are_missing_are_told)
{
    char *driver = write_plain("driver/libze_intel_gpu.so.1");
    const struct zepi_library_places where = places(NULL, NULL);
    struct zepi_compiler_roots roots = {.driver = driver};
    struct zepi_library_search search;
    struct zepi_compiler_files files;
    cr_assert(zepi_library_search_init(&search, &where));
    cr_assert(zepi_compiler_files_init(&files, &search, &roots));
    cr_assert(files.is_exact && !files.has_compiler);
    zepi_compiler_files_finish(&files);
    roots.driver = "/nowhere/libze_intel_gpu.so.1";
    cr_assert(zepi_compiler_files_init(&files, &search, &roots));
    cr_assert(!files.is_exact);
    zepi_compiler_files_finish(&files);
    zepi_library_search_finish(&search);
    free(driver);
}

// ---- Damaged libraries ----

static bool count_need(void *user, const char *name)
{
    cr_assert_lt(strlen(name), ZEPI_ELF_NAME_BYTES);
    ++*(unsigned *)user;
    return true;
}

static unsigned count_needs(const char *path, struct zepi_elf_needs *needs)
{
    unsigned count = 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    zepi_elf_read_needs(fd, needs, count_need, &count);
    close(fd);
    return count;
}

Test(elf_needs, of_damaged_files_end_nowhere)
{
    const struct library whole = make_library("libLLVM-14.so.1", "libigc.so.1", DT_RPATH, "/x:/y");
    struct zepi_elf_needs needs;
    char *path = write_library("lib.so", &whole);
    cr_assert_eq(count_needs(path, &needs), 2);
    cr_assert_str_eq(needs.folders, "/x:/y");
    cr_assert(needs.is_rpath);
    for (size_t i = 0; i < offsetof(struct library, strings); i++) {
        for (int bit = 0; bit < 8; bit++) {
            struct library damaged = whole;
            ((unsigned char *)&damaged)[i] ^= (unsigned char)(1 << bit);
            free(write_library("lib.so", &damaged));
            cr_assert_leq(count_needs(path, &needs), 5);
        }
    }
    for (off_t size = sizeof(whole) - 1; size >= 0; size--) {
        free(write_library("lib.so", &whole));
        cr_assert_eq(truncate(path, size), 0);
        cr_assert_leq(count_needs(path, &needs), 2);
    }
    free(path);
}
