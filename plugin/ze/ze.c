// SPDX-License-Identifier: MIT
#include "ze/ze.h"

#include "core/stats.h"

#include <dlfcn.h>
#include <string.h>

struct zepi_ze zepi_ze;
static void *loader;

void *zepi_ze_symbol(const char *name)
{
    return loader ? dlsym(loader, name) : NULL;
}

static bool is_extension(const char *name)
{
    const size_t length = strlen(name);
    return length > 3 &&
           (strcmp(name + length - 3, "Ext") == 0 || strcmp(name + length - 3, "Exp") == 0);
}

zepi_result_t zepi_ze_open(void)
{
    static const struct {
        const char *name;
        size_t offset;
    } functions[] = {
#define FUNCTION(function) {#function, offsetof(struct zepi_ze, function)},
        ZEPI_ZE_FUNCTIONS(FUNCTION)
#undef FUNCTION
    };
    // Never closed: what a driver leaves must stay mapped (quirk threads-stay).
    loader = dlopen("libze_loader.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!loader)
        return zepi_fail(ZEPI_ERROR_UNINITIALIZED,
                         "there is no Level Zero loader: install libze1 (Debian), "
                         "level-zero-loader or the like (%s)",
                         dlerror());
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        void *symbol = dlsym(loader, functions[i].name);
        if (!symbol && !is_extension(functions[i].name)) {
            loader = NULL;
            return zepi_fail(ZEPI_ERROR_UNSUPPORTED_VERSION,
                             "the Level Zero loader is too old: it lacks %s (expected 1.8.12 or "
                             "later)",
                             functions[i].name);
        }
        memcpy((char *)&zepi_ze + functions[i].offset, &symbol, sizeof(symbol));
    }
    return ZEPI_SUCCESS;
}

// ---- Statistics ----

static struct zepi_ze plain; // the loader's functions

#define COUNT_LAUNCHES(function, counted)                                                          \
    static ze_result_t ZE_APICALL counted(                                                         \
        ze_command_list_handle_t list, ze_kernel_handle_t kernel, const ze_group_count_t *count,   \
        ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits)                   \
    {                                                                                              \
        const ze_result_t result = plain.function(list, kernel, count, signal, wait_count, waits); \
        zepi_stats_add(ZEPI_STAT_LAUNCHES, result == ZE_RESULT_SUCCESS);                           \
        return result;                                                                             \
    }
COUNT_LAUNCHES(zeCommandListAppendLaunchKernel, append_launch)
COUNT_LAUNCHES(zeCommandListAppendLaunchCooperativeKernel, append_cooperative_launch)

static ze_result_t ZE_APICALL append_copy(ze_command_list_handle_t list, void *to, const void *from,
                                          size_t size_bytes, ze_event_handle_t signal,
                                          uint32_t wait_count, ze_event_handle_t *waits)
{
    const ze_result_t result =
        plain.zeCommandListAppendMemoryCopy(list, to, from, size_bytes, signal, wait_count, waits);
    if (result == ZE_RESULT_SUCCESS)
        zepi_stats_note_bytes(ZEPI_STAT_COPIES, size_bytes);
    return result;
}

static ze_result_t ZE_APICALL append_fill(ze_command_list_handle_t list, void *memory,
                                          const void *pattern, size_t pattern_bytes,
                                          size_t size_bytes, ze_event_handle_t signal,
                                          uint32_t wait_count, ze_event_handle_t *waits)
{
    const ze_result_t result = plain.zeCommandListAppendMemoryFill(
        list, memory, pattern, pattern_bytes, size_bytes, signal, wait_count, waits);
    if (result == ZE_RESULT_SUCCESS)
        zepi_stats_note_bytes(ZEPI_STAT_FILLS, size_bytes);
    return result;
}

void zepi_ze_count_calls(void)
{
    plain = zepi_ze;
    zepi_ze.zeCommandListAppendLaunchKernel = append_launch;
    zepi_ze.zeCommandListAppendLaunchCooperativeKernel = append_cooperative_launch;
    zepi_ze.zeCommandListAppendMemoryCopy = append_copy;
    zepi_ze.zeCommandListAppendMemoryFill = append_fill;
}
