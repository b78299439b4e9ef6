// SPDX-License-Identifier: MIT
#include "test_plugin.h"

#include "test_env.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

zepi_plugin_t zepi;
static void *library;

// Bound where the test links zepi_core.
#pragma weak zepiPluginInit

void test_expect_result(zepi_result_t result, zepi_result_t expected, const char *call,
                        const char *file, int line)
{
    if (result == expected)
        return;
    fprintf(stderr, "%s:%d: %s\n    answered %s, expected %s\n    last error: %s\n", file, line,
            call, zepi.result_name(result), zepi.result_name(expected), zepi.last_error(NULL));
    exit(1);
}

void test_expect_text(const char *words, const char *call, const char *file, int line)
{
    if (strstr(zepi.last_error(NULL), words))
        return;
    fprintf(stderr, "%s:%d: %s\n    last error: %s\n    expected in it: %s\n", file, line, call,
            zepi.last_error(NULL), words);
    exit(1);
}

static _Noreturn void give_up(const char *what, const char *why)
{
    fprintf(stderr, "test plugin: %s: %s\n", what, why ? why : "not found");
    exit(1);
}

void test_plugin_load(void)
{
    test_plugin_load_from(TEST_PLUGIN);
}

void test_plugin_load_from(const char *path)
{
    zepi_plugin_init_fn *init = zepiPluginInit;
    setenv("ZEPI_CACHE_DIR", test_env_scratch_path("cache"), 0);
    if (!init) {
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!library)
            give_up(path, dlerror());
        void *symbol = dlsym(library, "zepiPluginInit");
        memcpy(&init, &symbol, sizeof(symbol));
    }
    zepi = (zepi_plugin_t){.size = sizeof(zepi), .interface_version = ZEPI_INTERFACE_VERSION};
    if (!init || init(&zepi) != ZEPI_SUCCESS || zepi.size != sizeof(zepi))
        give_up(path, "zepiPluginInit fails");
}

void test_plugin_unload(void)
{
    if (library)
        dlclose(library);
    library = NULL;
}

struct test_gear test_gear_create(zepi_queue_flags_t queue_flags)
{
    struct test_gear gear;
    uint32_t count;
    TEST_OK(zepi.platform_get(1, &gear.platform, &count));
    if (count == 0)
        give_up("platform", zepi.last_error(NULL));
    TEST_OK(zepi.device_get(gear.platform, 1, &gear.device, &count));
    TEST_OK(zepi.context_create(1, &gear.device, &gear.context));
    TEST_OK(zepi.queue_create(gear.context, gear.device, queue_flags, &gear.queue));
    return gear;
}

void test_gear_destroy(struct test_gear *gear)
{
    TEST_OK(zepi.release(gear->queue));
    TEST_OK(zepi.release(gear->context));
    TEST_OK(zepi.release(gear->device));
    TEST_OK(zepi.release(gear->platform));
}

// Images that were read, kept until the process ends.
struct kept {
    struct kept *next;
    struct test_bytes bytes;
};
static pthread_mutex_t kept_mutex = PTHREAD_MUTEX_INITIALIZER; // guards `kept`
static struct kept *kept;

zepi_device_image_desc_t test_spirv_image(const char *name)
{
    struct kept *entry = malloc(sizeof(*entry));
    if (!entry)
        give_up(name, "no memory");
    entry->bytes = test_env_read_spirv(name);
    pthread_mutex_lock(&kept_mutex);
    entry->next = kept;
    kept = entry;
    pthread_mutex_unlock(&kept_mutex);
    return (zepi_device_image_desc_t){.size = sizeof(zepi_device_image_desc_t),
                                      .format = ZEPI_DEVICE_IMAGE_SPIRV,
                                      .state = ZEPI_MODULE_INPUT,
                                      .bytes = entry->bytes.data,
                                      .size_bytes = entry->bytes.size_bytes};
}

zepi_module_t test_input(zepi_context_t context, const char *name)
{
    const zepi_device_image_desc_t image = test_spirv_image(name);
    zepi_module_t module;
    TEST_OK(zepi.module_create(context, ZEPI_MODULE_INPUT, 1, &image, &module));
    return module;
}

zepi_module_t test_object(zepi_context_t context, const char *name)
{
    zepi_module_t input = test_input(context, name);
    zepi_module_t object;
    TEST_OK(zepi.module_compile(input, NULL, &object));
    TEST_OK(zepi.release(input));
    return object;
}

zepi_module_t test_executable(zepi_context_t context, const char *name)
{
    zepi_module_t input = test_input(context, name);
    zepi_module_t executable;
    TEST_OK(zepi.module_build(input, NULL, &executable));
    TEST_OK(zepi.release(input));
    return executable;
}

zepi_kernel_t test_kernel(zepi_context_t context, const char *name, const char *kernel_name)
{
    zepi_module_t executable = test_executable(context, name);
    zepi_kernel_t kernel;
    TEST_OK(zepi.module_get_kernel(executable, kernel_name, &kernel));
    TEST_OK(zepi.release(executable));
    return kernel;
}

void test_look_at_modules(zepi_context_t context, zepi_module_state_t state)
{
    zepi_module_t modules[64];
    uint32_t count;
    TEST_OK(zepi.context_get_modules(context, state, 64, modules, &count));
    for (uint32_t i = 0; i < count && i < 64; i++) {
        zepi_module_info_t info = {.size = sizeof(info)};
        TEST_OK(zepi.module_get_info(modules[i], &info));
        TEST_EXPECT(info.state == state && info.context == context, "a module of another kind");
        TEST_OK(zepi.release(modules[i]));
    }
}

zepi_device_image_desc_t test_native_image(zepi_module_t module, zepi_device_t device,
                                           zepi_module_state_t state)
{
    zepi_device_image_desc_t image = {
        .size = sizeof(image), .format = ZEPI_DEVICE_IMAGE_NATIVE, .state = state};
    TEST_OK(zepi.module_get_native_binary(module, device, &image.size_bytes, NULL));
    void *bytes = malloc(image.size_bytes);
    if (!bytes)
        give_up("native image", "no memory");
    TEST_OK(zepi.module_get_native_binary(module, device, &image.size_bytes, bytes));
    image.bytes = bytes;
    return image;
}

void test_native_image_finish(zepi_device_image_desc_t *image)
{
    free((void *)image->bytes);
    image->bytes = NULL;
}

zepi_launch_desc_t test_launch(zepi_kernel_t kernel, uint32_t argument_count,
                               const zepi_argument_t *arguments, size_t global_size)
{
    return (zepi_launch_desc_t){.size = sizeof(zepi_launch_desc_t),
                                .kernel = kernel,
                                .arguments = arguments,
                                .argument_count = argument_count,
                                .work_dim = 1,
                                .global_size = {global_size}};
}
