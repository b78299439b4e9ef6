// SPDX-License-Identifier: MIT
//
// The plugin as a host sees it: loaded with dlopen, used through its table. Functions that cannot
// go on end the process with a message.
#ifndef ZEPI_TESTS_SUPPORT_TEST_PLUGIN_H
#define ZEPI_TESTS_SUPPORT_TEST_PLUGIN_H

#include <zepi/zepi.h>

// The table, after test_plugin_load().
extern zepi_plugin_t zepi;

// Loads libzepi.so with a cache folder of this process' own (unless ZEPI_CACHE_DIR is set) and
// fills the table. A program that links zepi_core gets that instead, to reach what lies behind the
// table.
void test_plugin_load(void);
// The same with another file of it.
void test_plugin_load_from(const char *path);
// Unloads it: everything was released.
void test_plugin_unload(void);

// One device of the first platform with a context and an in-order queue.
struct test_gear {
    zepi_platform_t platform;
    zepi_device_t device;
    zepi_context_t context;
    zepi_queue_t queue;
};
struct test_gear test_gear_create(zepi_queue_flags_t queue_flags);
void test_gear_destroy(struct test_gear *gear);

// A description of tests/data/NAME.cl as SPIR-V. Its bytes stay until the process ends.
zepi_device_image_desc_t test_spirv_image(const char *name);
// An input module of that one image, its object, and its executable.
zepi_module_t test_input(zepi_context_t context, const char *name);
zepi_module_t test_object(zepi_context_t context, const char *name);
zepi_module_t test_executable(zepi_context_t context, const char *name);
// A kernel of that executable, which is released.
zepi_kernel_t test_kernel(zepi_context_t context, const char *name, const char *kernel_name);

// The module's native code for a device, as an image in that state. The bytes are owned:
// test_native_image_finish frees them.
zepi_device_image_desc_t test_native_image(zepi_module_t module, zepi_device_t device,
                                           zepi_module_state_t state);
void test_native_image_finish(zepi_device_image_desc_t *image);

// Lists the context's modules in a state, up to 64 of them, and checks that each of them is one.
// Thread-safe.
void test_look_at_modules(zepi_context_t context, zepi_module_state_t state);

// A launch of one dimension with suggested group size.
zepi_launch_desc_t test_launch(zepi_kernel_t kernel, uint32_t argument_count,
                               const zepi_argument_t *arguments, size_t global_size);
#define TEST_NO_WAIT ((zepi_wait_list_t){0})
#define TEST_POINTER(memory) ((zepi_argument_t){.kind = ZEPI_ARGUMENT_POINTER, .value = (memory)})
#define TEST_VALUE(variable)                                                                       \
    ((zepi_argument_t){                                                                            \
        .kind = ZEPI_ARGUMENT_VALUE, .size_bytes = sizeof(variable), .value = &(variable)})

// Ends the process with the call and its error text unless the result is the one expected.
#define TEST_OK(call) test_expect_result(call, ZEPI_SUCCESS, #call, __FILE__, __LINE__)
#define TEST_FAILS(call, result) test_expect_result(call, result, #call, __FILE__, __LINE__)
// The same, and the error text must contain the words.
#define TEST_FAILS_SAYING(call, result, words)                                                     \
    (TEST_FAILS(call, result), test_expect_text(words, #call, __FILE__, __LINE__))

void test_expect_result(zepi_result_t result, zepi_result_t expected, const char *call,
                        const char *file, int line);
void test_expect_text(const char *words, const char *call, const char *file, int line);

#endif
