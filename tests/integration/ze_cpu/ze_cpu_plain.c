// SPDX-License-Identifier: MIT
#include "fixture.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 1000u

// A plain Level Zero program, which knows nothing of zepi: it finds the driver through the loader
// and uses what specification 1.4 has.

static void set_pointer(ze_kernel_handle_t kernel, uint32_t index, const void *pointer)
{
    MUST(zeKernelSetArgumentValue(kernel, index, sizeof(pointer), &pointer));
}

Test(ze_cpu_plain, names_itself_and_its_device)
{
    struct fixture fixture;
    fixture_init(&fixture);
    ze_driver_properties_t driver = {.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES};
    MUST(zeDriverGetProperties(fixture.driver, &driver));
    cr_assert_arr_eq(driver.uuid.id, "zepi-cpu-driver", 16);
    ze_device_properties_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    MUST(zeDeviceGetProperties(fixture.device, &device));
    cr_assert_eq(device.type, ZE_DEVICE_TYPE_GPU);
    cr_assert(strncmp(device.name, "zepi CPU driver: ", 17) == 0, "%s", device.name);
    cr_assert(device.numEUsPerSubslice > 0);
    uint32_t sub_devices = 0;
    MUST(zeDeviceGetSubDevices(fixture.device, &sub_devices, NULL));
    cr_assert_eq(sub_devices, 0);
    fixture_finish(&fixture);
}

Test(ze_cpu_plain, adds_two_vectors)
{
    struct fixture fixture;
    fixture_init(&fixture);
    ze_module_handle_t module = fixture_module(&fixture, "kernels", NULL);
    ze_kernel_handle_t kernel = fixture_kernel(module, "add");
    ze_command_list_handle_t list = fixture_immediate(&fixture, FIXTURE_IN_ORDER);
    int *a = fixture_shared(&fixture, COUNT * sizeof(int));
    int *b = fixture_shared(&fixture, COUNT * sizeof(int));
    int *sum = fixture_shared(&fixture, COUNT * sizeof(int));
    int result[COUNT];
    for (int i = 0; i < (int)COUNT; i++) {
        a[i] = i;
        b[i] = 10 * i;
    }
    set_pointer(kernel, 0, a);
    set_pointer(kernel, 1, b);
    set_pointer(kernel, 2, sum);
    MUST(zeKernelSetGroupSize(kernel, 10, 1, 1));
    const ze_group_count_t groups = {COUNT / 10, 1, 1};
    MUST(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    MUST(zeCommandListAppendMemoryCopy(list, result, sum, sizeof(result), NULL, 0, NULL));
    fixture_synchronize(&fixture, list);
    for (int i = 0; i < (int)COUNT; i++)
        cr_assert_eq(result[i], 11 * i);
    MUST(zeMemFree(fixture.context, a));
    MUST(zeMemFree(fixture.context, b));
    MUST(zeMemFree(fixture.context, sum));
    MUST(zeKernelDestroy(kernel));
    MUST(zeModuleDestroy(module));
    MUST(zeCommandListDestroy(list));
    fixture_finish(&fixture);
}

static void run_constants(const struct fixture *fixture, ze_module_handle_t module, int factor,
                          float value)
{
    ze_kernel_handle_t kernel = fixture_kernel(module, "constants");
    ze_command_list_handle_t list = fixture_immediate(fixture, FIXTURE_SYNCHRONOUS);
    int *out = fixture_shared(fixture, COUNT * sizeof(int));
    float *floats = fixture_shared(fixture, COUNT * sizeof(float));
    set_pointer(kernel, 0, out);
    set_pointer(kernel, 1, floats);
    const ze_group_count_t groups = {COUNT, 1, 1};
    MUST(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    for (int i = 0; i < (int)COUNT; i++) {
        cr_assert_eq(out[i], i * factor);
        cr_assert_eq(floats[i], value);
    }
    MUST(zeMemFree(fixture->context, out));
    MUST(zeMemFree(fixture->context, floats));
    MUST(zeCommandListDestroy(list));
    MUST(zeKernelDestroy(kernel));
}

Test(ze_cpu_plain, takes_no_value_for_one_of_zeros)
{
    struct fixture fixture;
    fixture_init(&fixture);
    ze_module_handle_t module = fixture_module(&fixture, "kernels", NULL);
    ze_kernel_handle_t kernel = fixture_kernel(module, "scale");
    ze_command_list_handle_t list = fixture_immediate(&fixture, FIXTURE_IN_ORDER);
    const ze_group_count_t one = {1, 1, 1};
    const int factor = 7;
    int *data = fixture_shared(&fixture, sizeof(int));
    *data = 5;
    MUST(zeKernelSetArgumentValue(kernel, 0, sizeof(data), &data));
    MUST(zeKernelSetArgumentValue(kernel, 1, sizeof(factor), &factor));
    MUST(zeKernelSetArgumentValue(kernel, 1, sizeof(factor), NULL));
    cr_assert_eq(zeKernelSetArgumentValue(kernel, 1, sizeof(factor) + 1, NULL),
                 ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
    MUST(zeCommandListAppendLaunchKernel(list, kernel, &one, NULL, 0, NULL));
    fixture_synchronize(&fixture, list);
    cr_assert_eq(*data, 0);
    MUST(zeMemFree(fixture.context, data));
    MUST(zeCommandListDestroy(list));
    MUST(zeKernelDestroy(kernel));
    MUST(zeModuleDestroy(module));
    fixture_finish(&fixture);
}

Test(ze_cpu_plain, ignores_advice_that_it_does_not_know)
{
    struct fixture fixture;
    fixture_init(&fixture);
    ze_command_list_handle_t list = fixture_immediate(&fixture, FIXTURE_IN_ORDER);
    int *data = fixture_shared(&fixture, sizeof(int));
    for (uint32_t advice = 0; advice < 100; advice++)
        MUST(zeCommandListAppendMemAdvise(list, fixture.device, data, sizeof(int),
                                          (ze_memory_advice_t)advice));
    MUST(zeMemFree(fixture.context, data));
    MUST(zeCommandListDestroy(list));
    fixture_finish(&fixture);
}

Test(ze_cpu_plain, sees_specialization_constants)
{
    struct fixture fixture;
    fixture_init(&fixture);
    ze_module_handle_t module = fixture_module(&fixture, "kernels", NULL);
    run_constants(&fixture, module, 3, 0.5f);
    MUST(zeModuleDestroy(module));
    const uint32_t ids[] = {7, 8};
    const int factor = 5;
    const float value = 2.25f;
    const void *values[] = {&factor, &value};
    const ze_module_constants_t constants = {2, ids, values};
    module = fixture_module(&fixture, "kernels", &constants);
    run_constants(&fixture, module, 5, 2.25f);
    MUST(zeModuleDestroy(module));
    fixture_finish(&fixture);
}
