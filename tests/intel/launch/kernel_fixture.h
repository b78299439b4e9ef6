// SPDX-License-Identifier: MIT
//
// What stories of kernels have in common: a device, a module, memory for results, and launches by
// name.
#ifndef ZEPI_TESTS_INTEL_KERNEL_FIXTURE_H
#define ZEPI_TESTS_INTEL_KERNEL_FIXTURE_H

#include "intel.h"

#include "test_plugin.h"

#include <level_zero/ze_api.h>

#define ITEMS 64

union kernels_out {
    int numbers[ITEMS];
    uint32_t words[ITEMS];
    int64_t longs[ITEMS];
    double doubles[ITEMS];
};

extern struct test_gear gear;
extern zepi_module_t module;
extern union kernels_out *out; // zeroed

// Environments of stories.
#define EXECUTED "DRM_SHIM_EXEC=1"
#define REFUSED EXECUTED, "DRM_SHIM_STRICT=0"

// A row of a table of stories: the function, and its environment.
#define STORY(name, ...)                                                                           \
    {                                                                                              \
#name, name,                                                                               \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

// A function of the loader.
void *kernels_symbol(const char *name);
#define ZE(name) ((__typeof__(name) *)kernels_symbol(#name))
#define ZE_OK(call)                                                                                \
    do {                                                                                           \
        const ze_result_t ze = (call);                                                             \
        INTEL_EXPECT(ze == ZE_RESULT_SUCCESS, "%s: 0x%x", #call, ze);                              \
    } while (0)

// The module is of the device code of this name.
void kernels_set_up(const char *code);
void kernels_tear_down(void);

zepi_kernel_t kernels_get(const char *name);
// Until it is complete.
void kernels_run(const char *name, uint32_t count, const zepi_argument_t *arguments, size_t items,
                 size_t group);

// ---- The driver's own handles ----

void *kernels_native_list(void);
ze_kernel_handle_t kernels_native(zepi_kernel_t kernel);
void kernels_finish(void); // waits for commands that the list has got without zepi

// An image of a line of pixels of four integers or, with `srgb`, bytes.
ze_image_handle_t kernels_make_line(const ze_srgb_ext_desc_t *srgb);
// add_line of images.cl.
void kernels_launch_on_line(ze_image_handle_t image);

#endif
