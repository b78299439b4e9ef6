// SPDX-License-Identifier: MIT
#include "ur/loader_check.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct search {
    uintptr_t address; // inside the module that is looked for
    const char *needle;
    bool has_module;
    bool has_needle;
};

static bool is_inside(const struct dl_phdr_info *info, const ElfW(Phdr) * segment,
                      uintptr_t address)
{
    const uintptr_t begin = info->dlpi_addr + segment->p_vaddr;
    return segment->p_type == PT_LOAD && address >= begin && address - begin < segment->p_memsz;
}

// As memmem, in steps of up to the needle's length (Horspool): libraries are large. It looks at all
// of a segment, into the gaps between variables as well, which is no error here.
__attribute__((no_sanitize("address"))) static bool has_text(const unsigned char *bytes,
                                                             size_t size, const char *needle)
{
    const size_t length = strlen(needle);
    size_t steps[256];
    for (size_t i = 0; i < 256; i++)
        steps[i] = length;
    for (size_t i = 0; i + 1 < length; i++)
        steps[(unsigned char)needle[i]] = length - 1 - i;
    for (size_t at = 0; at + length <= size; at += steps[bytes[at + length - 1]]) {
        size_t same = 0;
        while (same < length && bytes[at + same] == (unsigned char)needle[same])
            same++;
        if (same == length)
            return true;
    }
    return false;
}

// Looks through what the module's file has for reading only; its variables may change meanwhile.
static int visit(struct dl_phdr_info *info, size_t size, void *user)
{
    struct search *search = user;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum && !search->has_module; i++)
        search->has_module = is_inside(info, &info->dlpi_phdr[i], search->address);
    for (int i = 0; i < info->dlpi_phnum && search->has_module && !search->has_needle; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_R) && !(segment->p_flags & PF_W))
            search->has_needle =
                has_text((const unsigned char *)(info->dlpi_addr + segment->p_vaddr),
                         segment->p_filesz, search->needle);
    }
    return search->has_module; // ends the walk
}

static bool exports(const char *path, const char *symbol)
{
    void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (!library)
        return false;
    Dl_info info;
    void *address = dlsym(library, symbol);
    // A symbol of something else that the module needs does not count.
    const bool has = address && dladdr(address, &info) && strcmp(info.dli_fname, path) == 0;
    dlclose(library);
    return has;
}

static atomic_bool is_sycl;

bool zepi_ur_loader_is_sycl(void)
{
    // Relaxed: a host that asks has got its tables.
    return atomic_load_explicit(&is_sycl, memory_order_relaxed);
}

void zepi_ur_loader_note(const void *caller)
{
    Dl_info info;
    const char *path = dladdr(caller, &info) && info.dli_fname ? info.dli_fname : "";
    const char *slash = strrchr(path, '/');
    atomic_store_explicit(&is_sycl,
                          strncmp(slash ? slash + 1 : path, "libsycl", strlen("libsycl")) == 0,
                          memory_order_relaxed);
}

bool zepi_ur_loader_check(const void *caller)
{
    Dl_info info;
    struct search search = {.address = (uintptr_t)caller, .needle = "urGetEventExpProcAddrTable"};
    const char *reason = NULL;
    const char *path = "an unknown module";
    if (dladdr(caller, &info) && info.dli_fname)
        path = info.dli_fname;
    dl_iterate_phdr(visit, &search);
    if (!search.has_needle)
        reason = "does not know urGetEventExpProcAddrTable";
    else if (exports(path, "urKernelSetArgValue"))
        reason = "exports urKernelSetArgValue";
    if (!reason)
        return true;
    fprintf(stderr,
            "zepi: error: %s %s: its tables have another layout than this adapter's, which is for "
            "Unified Runtime 0.12 of oneAPI 2026.2; the adapter stays out (a caller that is no "
            "loader sets ZEPI_UR_LOADER_CHECK=off)\n",
            path, reason);
    return false;
}
