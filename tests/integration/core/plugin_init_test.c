// SPDX-License-Identifier: MIT
#include "test_env.h"
#include "test_plugin.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

static zepi_plugin_init_fn *init;
static zepi_plugin_last_error_fn *last_error;
static void *own_library;

static void load(void)
{
    test_env_use_ze_cpu();
    test_plugin_load();
    own_library = dlopen(TEST_PLUGIN, RTLD_NOW);
    void *symbol = dlsym(own_library, "zepiPluginInit");
    memcpy(&init, &symbol, sizeof(symbol));
    symbol = dlsym(own_library, "zepiPluginLastError");
    memcpy(&last_error, &symbol, sizeof(symbol));
}

TestSuite(plugin_init, .init = load);

Test(plugin_init, fills_the_table_and_says_who_it_is)
{
    cr_assert_str_eq(zepi.name, "zepi");
    cr_assert(strstr(zepi.targets, "spirv64"));
    cr_assert_eq(zepi.interface_version, ZEPI_INTERFACE_VERSION);
    // No function is missing.
    for (size_t at = ZEPI_PLUGIN_HEAD_SIZE; at < sizeof(zepi); at += sizeof(void *)) {
        void *function;
        memcpy(&function, (char *)&zepi + at, sizeof(function));
        cr_assert_not_null(function, "the function at %zu is NULL", at);
    }
}

Test(plugin_init, gives_an_old_host_its_prefix_and_nothing_more)
{
    zepi_plugin_t table;
    const size_t prefix = offsetof(zepi_plugin_t, platform_get);
    memset(&table, 0x5a, sizeof(table));
    table.size = prefix;
    table.interface_version = ZEPI_INTERFACE_VERSION;
    cr_assert_eq(init(&table), ZEPI_SUCCESS);
    cr_assert_eq(table.size, prefix);
    cr_assert_eq(table.release, zepi.release);
    for (size_t at = prefix; at < sizeof(table); at++)
        cr_assert_eq(((unsigned char *)&table)[at], 0x5a, "byte %zu was written", at);
}

Test(plugin_init, tells_a_newer_host_which_functions_it_got)
{
    struct {
        zepi_plugin_t known;
        void *newer[4];
    } table = {.known = {.size = sizeof(table), .interface_version = ZEPI_INTERFACE_VERSION}};
    cr_assert_eq(init(&table.known), ZEPI_SUCCESS);
    cr_assert_eq(table.known.size, sizeof(zepi_plugin_t));
    cr_assert_null(table.newer[0]);
}

Test(plugin_init, refuses_what_it_cannot_fill_and_writes_nothing)
{
    zepi_plugin_t table;
    zepi_plugin_t before;
    cr_assert_eq(init(NULL), ZEPI_ERROR_INVALID_VALUE);
    memset(&table, 0x5a, sizeof(table));
    table.size = ZEPI_PLUGIN_HEAD_SIZE - 1;
    table.interface_version = ZEPI_INTERFACE_VERSION;
    before = table;
    cr_assert_eq(init(&table), ZEPI_ERROR_INVALID_SIZE);
    cr_assert_eq(memcmp(&table, &before, sizeof(table)), 0);
    table.size = sizeof(table);
    // Before 1.0 another minor version is another interface.
    const uint32_t others[] = {ZEPI_MAKE_VERSION(1, 0), ZEPI_MAKE_VERSION(0, 3),
                               ZEPI_INTERFACE_VERSION + 1};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        char words[64];
        table.interface_version = others[i];
        before = table;
        cr_assert_eq(init(&table), ZEPI_ERROR_UNSUPPORTED_VERSION);
        cr_assert_eq(memcmp(&table, &before, sizeof(table)), 0);
        snprintf(words, sizeof(words), "compiled for interface %u.%u",
                 ZEPI_VERSION_MAJOR(others[i]), ZEPI_VERSION_MINOR(others[i]));
        cr_assert(strstr(last_error(), words), "%s", last_error());
    }
}

Test(plugin_init, tells_whether_a_table_has_a_function)
{
    cr_assert(ZEPI_HAS_FUNCTION(&zepi, queue_call_host));
    zepi_plugin_t table = zepi;
    table.size = offsetof(zepi_plugin_t, platform_get) + sizeof(void *);
    cr_assert(ZEPI_HAS_FUNCTION(&table, platform_get));
    cr_assert_not(ZEPI_HAS_FUNCTION(&table, queue_call_host));
    table.size--;
    cr_assert_not(ZEPI_HAS_FUNCTION(&table, platform_get));
}

// Whether a file whose path has the words in it is mapped into this process.
static bool is_mapped(const char *words)
{
    char line[1024];
    bool is_found = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof(line), maps))
        is_found = is_found || strstr(line, words);
    fclose(maps);
    return is_found;
}

Test(plugin_init, touches_no_driver_before_the_first_question_for_platforms)
{
    zepi_option_t option;
    uint32_t count;
    cr_assert_eq(zepi.options_get(1, &option, &count), ZEPI_SUCCESS);
    // The stand-in for Intel's kernel driver keeps ze_cpu in the process.
    const char *driver = test_env_is_on_intel_driver() ? "libze_intel_gpu.so" : "libze_cpu.so";
    cr_assert(!is_mapped(driver));
    cr_assert_eq(zepi.platform_get(0, NULL, &count), ZEPI_SUCCESS);
    cr_assert_eq(count, 1);
    cr_assert(is_mapped(driver));
}

Test(plugin_init, is_gone_after_the_last_release_and_dlclose)
{
    struct test_gear gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    zepi_module_t module = test_executable(gear.context, "vector_add");
    TEST_OK(zepi.release(module));
    test_gear_destroy(&gear);
    cr_assert(is_mapped("libzepi.so"));
    test_plugin_unload();
    dlclose(own_library);
    cr_assert(!is_mapped("libzepi.so"));
}

Test(plugin_init, comes_up_again_after_it_was_unloaded)
{
    test_plugin_unload();
    test_plugin_load();
    struct test_gear gear = test_gear_create(0);
    test_gear_destroy(&gear);
}

Test(no_driver, is_no_error_and_says_why)
{
    uint32_t count = 7;
    test_env_use_no_driver();
    test_plugin_load();
    cr_assert_eq(zepi.platform_get(0, NULL, &count), ZEPI_SUCCESS);
    cr_assert_eq(count, 0);
    cr_assert(zepi.last_error(NULL)[0] != '\0');
}

static int add_thread_memory(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size;
    if (!strstr(info->dlpi_name, "libzepi") && !strstr(info->dlpi_name, "adapter_zepi.so") &&
        !strstr(info->dlpi_name, "libze_cpu"))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_TLS)
            *(size_t *)user += info->dlpi_phdr[i].p_memsz;
    }
    return 0;
}

// It lies in the block that the process has for libraries that are opened late, which is small.
Test(plugin_init, all_libraries_together_use_64_bytes_of_a_threads_static_memory)
{
    char adapter[4096];
    size_t bytes = 0;
    const char *slash = strrchr(TEST_PLUGIN, '/');
    snprintf(adapter, sizeof(adapter), "%.*s/libur_adapter_zepi.so", (int)(slash - TEST_PLUGIN),
             TEST_PLUGIN);
    struct test_gear gear = test_gear_create(ZEPI_QUEUE_IN_ORDER); // opens ze_cpu
    void *library = dlopen(adapter, RTLD_NOW);                     // NULL where it is not built
    dl_iterate_phdr(add_thread_memory, &bytes);
    cr_assert_gt(bytes, 0);
    cr_assert_leq(bytes, 64, "%zu bytes", bytes);
    if (library)
        dlclose(library);
    test_gear_destroy(&gear);
}

Test(plugin_init, a_threads_static_memory_comes_back_with_dlclose)
{
    enum { TIMES = 1000 };
    test_plugin_unload();
    dlclose(own_library);
    for (int i = 0; i < TIMES; i++) {
        void *library = dlopen(TEST_PLUGIN, RTLD_NOW);
        cr_assert_not_null(library, "time %d: %s", i, dlerror());
        dlclose(library);
    }
}
