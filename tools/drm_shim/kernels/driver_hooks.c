// SPDX-License-Identifier: MIT
#include "driver_hooks.h"

#include "log.h"
#include "options.h"
#include "public.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <string.h>

#define DRIVER_NAME "libze_intel_gpu.so.1"

typedef void *dlsym_fn(void *, const char *);

ze_module_dditable_t shim_driver_module;
ze_kernel_dditable_t shim_driver_kernel;

static dlsym_fn *real_dlsym;
static ze_driver_dditable_t driver_functions;
static struct {
    const uint8_t *bytes;
    size_t size_bytes;
} driver_data;

const uint8_t *shim_driver_data(size_t *out_size_bytes)
{
    *out_size_bytes = driver_data.size_bytes;
    return driver_data.bytes;
}

struct replacement {
    void *from;
    void *to;
    unsigned count;
};

static struct replacement replacement_of(const void *from, const void *to)
{
    struct replacement replacement = {0};
    memcpy(&replacement.from, from, sizeof(replacement.from));
    memcpy(&replacement.to, to, sizeof(replacement.to));
    return replacement;
}

// In the driver's zeroed data: its tables are filled at run time.
static int replace_in_driver(struct dl_phdr_info *info, size_t size, void *user)
{
    struct replacement *replacements = user;
    (void)size;
    if (!strstr(info->dlpi_name, DRIVER_NAME))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_W))
            continue;
        const uintptr_t start = info->dlpi_addr + segment->p_vaddr;
        driver_data.bytes = (const uint8_t *)start;
        driver_data.size_bytes = segment->p_filesz;
        const uintptr_t zeroed = (start + segment->p_filesz + 7) & ~(uintptr_t)7;
        void **end = (void **)((start + segment->p_memsz) & ~(uintptr_t)7);
        for (void **word = (void **)zeroed; word < end; word++) {
            for (struct replacement *at = replacements; at->from; at++) {
                if (*word == at->from) {
                    *word = at->to;
                    at->count++;
                }
            }
        }
    }
    return 1;
}

bool shim_driver_table(void *driver, const char *getter, void *table)
{
    ze_result_t(ZE_APICALL * get)(ze_api_version_t, void *) = NULL;
    void *symbol = driver ? real_dlsym(driver, getter) : NULL;
    memcpy(&get, &symbol, sizeof(symbol));
    return get && get(ZE_API_VERSION_1_4, table) == ZE_RESULT_SUCCESS;
}

uint64_t shim_driver_kernel_address(ze_kernel_handle_t kernel)
{
    static ze_result_t(ZE_APICALL * _Atomic get_address)(ze_kernel_handle_t, uint64_t *);
    ze_result_t(ZE_APICALL * function)(ze_kernel_handle_t, uint64_t *) = get_address;
    uint64_t address = 0;
    if (!function) {
        void *symbol = NULL;
        ze_driver_handle_t driver;
        uint32_t count = 1;
        if (driver_functions.pfnGet(&count, &driver) != ZE_RESULT_SUCCESS ||
            driver_functions.pfnGetExtensionFunctionAddress(driver, "zexKernelGetBaseAddress",
                                                            &symbol) != ZE_RESULT_SUCCESS)
            return 0;
        memcpy(&function, &symbol, sizeof(symbol));
        get_address = function;
    }
    return function(kernel, &address) == ZE_RESULT_SUCCESS ? address : 0;
}

static void install_hooks(void)
{
    const ze_pfnModuleCreate_t create = shim_module_create;
    const ze_pfnModuleDestroy_t destroy = shim_module_destroy;
    const ze_pfnModuleDynamicLink_t link = shim_module_dynamic_link;
    const ze_pfnModuleGetFunctionPointer_t pointer = shim_module_get_function_pointer;
    const ze_pfnKernelCreate_t create_kernel = shim_kernel_create;
    const ze_pfnKernelSuggestMaxCooperativeGroupCount_t suggest = shim_kernel_suggest_cooperative;
    void *driver = dlopen(DRIVER_NAME, RTLD_NOW | RTLD_NOLOAD);
    if (!shim_driver_table(driver, "zeGetDriverProcAddrTable", &driver_functions) ||
        !shim_driver_table(driver, "zeGetModuleProcAddrTable", &shim_driver_module) ||
        !shim_driver_table(driver, "zeGetKernelProcAddrTable", &shim_driver_kernel)) {
        shim_error("kernels are not executed: the driver lacks a table");
        return;
    }
    struct replacement replacements[] = {
        replacement_of(&shim_driver_module.pfnCreate, &create),
        replacement_of(&shim_driver_module.pfnDestroy, &destroy),
        replacement_of(&shim_driver_module.pfnDynamicLink, &link),
        replacement_of(&shim_driver_module.pfnGetFunctionPointer, &pointer),
        replacement_of(&shim_driver_kernel.pfnCreate, &create_kernel),
        replacement_of(&shim_driver_kernel.pfnSuggestMaxCooperativeGroupCount, &suggest),
        {0},
    };
    dl_iterate_phdr(replace_in_driver, replacements);
    for (const struct replacement *at = replacements; at->from; at++) {
        if (at->count == 0)
            shim_error("kernels are not executed: the driver's tables are not where expected");
    }
}

static bool is_driver_loaded(void)
{
    void *driver = dlopen(DRIVER_NAME, RTLD_NOW | RTLD_NOLOAD);
    if (driver)
        dlclose(driver);
    return driver != NULL;
}

// A tail call, so that RTLD_NEXT still means the caller's next library.
SHIM_PUBLIC void *dlsym(void *restrict handle, const char *restrict name)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (!real_dlsym) {
        void *symbol = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
        if (!symbol)
            symbol = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
        memcpy(&real_dlsym, &symbol, sizeof(symbol));
    }
    if (name[0] == 'z' && name[1] == 'e' && strstr(name, "ProcAddrTable") &&
        shim_options()->executes && is_driver_loaded())
        pthread_once(&once, install_hooks);
    return real_dlsym(handle, name);
}
