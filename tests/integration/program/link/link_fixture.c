// SPDX-License-Identifier: MIT
#include "link_fixture.h"

#define MAX_OBJECTS 4

zepi_module_t compile(const char *name, const zepi_build_desc_t *desc)
{
    zepi_module_t input = test_input(gear.context, name);
    zepi_module_t object;
    TEST_OK(zepi.module_compile(input, desc, &object));
    TEST_OK(zepi.release(input));
    return object;
}

zepi_result_t link_named(zepi_link_method_t method, uint32_t count, const char *const *names,
                         zepi_module_t *out_module)
{
    const zepi_build_desc_t desc = {.size = sizeof(desc), .link_method = method};
    zepi_module_t objects[MAX_OBJECTS] = {NULL};
    for (uint32_t i = 0; i < count; i++)
        objects[i] = compile(names[i], NULL);
    const zepi_result_t result = zepi.module_link(count, objects, &desc, out_module);
    for (uint32_t i = 0; i < count; i++)
        TEST_OK(zepi.release(objects[i]));
    return result;
}

void run_kernel(zepi_module_t module, const char *name, int32_t *data, size_t count, int32_t value)
{
    zepi_kernel_t kernel;
    int32_t *memory = NULL;
    const size_t size = count * sizeof(*data);
    TEST_OK(zepi.module_get_kernel(module, name, &kernel));
    if (data) {
        TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, size, 0,
                                  (void **)&memory));
        memcpy(memory, data, size);
    }
    const zepi_argument_t argument = data ? TEST_POINTER(memory) : TEST_VALUE(value);
    const zepi_launch_desc_t launch = test_launch(kernel, 1, &argument, data ? count : 1);
    TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    if (data) {
        memcpy(data, memory, size);
        TEST_OK(zepi.usm_free(gear.context, memory));
    }
    TEST_OK(zepi.release(kernel));
}

int32_t run_one(zepi_module_t module, const char *name, int32_t value)
{
    run_kernel(module, name, &value, 1, 0);
    return value;
}

zepi_module_t compile_with(const char *name, uint32_t id, int32_t value)
{
    zepi_module_t input = test_input(gear.context, name);
    zepi_module_t object;
    TEST_OK(zepi.spec_constant_set(input, id, sizeof(value), &value));
    TEST_OK(zepi.module_compile(input, NULL, &object));
    TEST_OK(zepi.release(input));
    return object;
}
