// SPDX-License-Identifier: MIT
//
// Builds two images at one time in processes of their own, while each Level Zero call of this
// process and each allocation fails in turn.
#include "walk.h"

#include <stdlib.h>

static struct test_gear gear;
static zepi_device_image_desc_t images[2];

static zepi_result_t build(void)
{
    zepi_module_t input = NULL;
    zepi_module_t executable = NULL;
    zepi_kernel_t kernel = NULL;
    zepi_result_t result;
    STEP(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 2, images, &input));
    STEP(zepi.module_build(input, NULL, &executable));
    STEP(zepi.module_get_kernel(executable, "vector_add", &kernel));
out:
    walk_release(input);
    walk_release(executable);
    walk_release(kernel);
    TEST_OK(zepi.cache_clear(gear.context));
    return result;
}

int main(void)
{
    setenv("ZEPI_COMPILER", "process", 1);
    setenv("ZEPI_CACHE_DISK", "off", 1);
    walk_begin();
    gear = test_gear_create(0);
    images[0] = test_spirv_image("vector_add");
    images[1] = test_spirv_image("counter");
    TEST_OK(build());
    walk_keep();
    walk_calls("calls", build, "ZE_RESULT_ERROR_UNKNOWN");
    walk_allocations("allocations", build);
    test_gear_destroy(&gear);
    return 0;
}
