// SPDX-License-Identifier: MIT
//
// At the end of a process LeakSanitizer reads all memory that libraries may write. Of 87 MB of it
// 62 belong to the C compiler of intel-opencl-rt 2026.2, whose own allocations lsan.supp names, and
// 6 to UBSan. They are hidden from LeakSanitizer here, since reading them takes a fifth of a small
// test's time.
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef int visit_fn(struct dl_phdr_info *library, size_t size, void *data);

static int (*iterate)(visit_fn *visit, void *data);
static uintptr_t sanitizer_begin;
static uintptr_t sanitizer_end;

static int find_sanitizer(struct dl_phdr_info *library, size_t size, void *data)
{
    (void)size;
    (void)data;
    if (!strstr(library->dlpi_name, "/libasan.so"))
        return 0;
    sanitizer_begin = library->dlpi_addr;
    for (int i = 0; i < library->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &library->dlpi_phdr[i];
        const uintptr_t end = library->dlpi_addr + segment->p_vaddr + segment->p_memsz;
        if (segment->p_type == PT_LOAD && end > sanitizer_end)
            sanitizer_end = end;
    }
    return 1;
}

__attribute__((constructor)) static void find_functions(void)
{
    void *function = dlsym(RTLD_NEXT, "dl_iterate_phdr");
    memcpy(&iterate, &function, sizeof(iterate));
    iterate(find_sanitizer, NULL);
}

struct visit {
    visit_fn *function;
    void *data;
};

static int visit_others(struct dl_phdr_info *library, size_t size, void *data)
{
    static const char *const hidden[] = {"/libcommon_clang.so", "/libubsan.so"};
    const struct visit *visit = data;
    for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++) {
        if (strstr(library->dlpi_name, hidden[i]))
            return 0;
    }
    return visit->function(library, size, visit->data);
}

__attribute__((visibility("default"))) int dl_iterate_phdr(visit_fn *function, void *data)
{
    struct visit visit = {function, data};
    if (!iterate)
        find_functions();
    if ((uintptr_t)function < sanitizer_begin || (uintptr_t)function >= sanitizer_end)
        return iterate(function, data);
    return iterate(visit_others, &visit);
}
