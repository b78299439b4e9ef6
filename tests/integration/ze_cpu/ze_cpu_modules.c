// SPDX-License-Identifier: MIT
#include "fixture.h"

#include "test_env.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static ze_result_t create(const struct fixture *fixture, ze_module_format_t format,
                          const uint8_t *bytes, size_t size_bytes,
                          const ze_module_constants_t *constants, const char *flags,
                          ze_module_handle_t *out_module, char *log, size_t log_bytes)
{
    const ze_module_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
        .format = format,
        .inputSize = size_bytes,
        .pInputModule = bytes,
        .pBuildFlags = flags,
        .pConstants = constants,
    };
    ze_module_build_log_handle_t build_log = NULL;
    ze_result_t result =
        zeModuleCreate(fixture->context, fixture->device, &desc, out_module, &build_log);
    cr_assert(build_log != NULL);
    MUST(zeModuleBuildLogGetString(build_log, &log_bytes, log));
    MUST(zeModuleBuildLogDestroy(build_log));
    return result;
}

static int run_scalar(const struct fixture *fixture, ze_kernel_handle_t kernel, int value)
{
    ze_command_list_handle_t list = fixture_immediate(fixture, FIXTURE_SYNCHRONOUS);
    const ze_group_count_t groups = {1, 1, 1};
    int *data = fixture_shared(fixture, sizeof(*data));
    *data = value;
    MUST(zeKernelSetArgumentValue(kernel, 0, sizeof(data), &data));
    MUST(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    int result = *data;
    MUST(zeMemFree(fixture->context, data));
    MUST(zeCommandListDestroy(list));
    return result;
}

static uint8_t *native_of(ze_module_handle_t module, size_t *out_size_bytes)
{
    MUST(zeModuleGetNativeBinary(module, out_size_bytes, NULL));
    uint8_t *bytes = malloc(*out_size_bytes);
    cr_assert(bytes != NULL);
    MUST(zeModuleGetNativeBinary(module, out_size_bytes, bytes));
    return bytes;
}

Test(ze_cpu_modules, loads_its_own_native_binary)
{
    struct fixture fixture;
    fixture_init(&fixture);
    const uint32_t id = 7;
    const int factor = 9;
    const void *value = &factor;
    const ze_module_constants_t constants = {1, &id, &value};
    ze_module_handle_t module = fixture_module(&fixture, "kernels", &constants);
    size_t size_bytes;
    uint8_t *bytes = native_of(module, &size_bytes);
    MUST(zeModuleDestroy(module));
    char log[1024];
    MUST(create(&fixture, ZE_MODULE_FORMAT_NATIVE, bytes, size_bytes, NULL, NULL, &module, log,
                sizeof(log)));
    ze_kernel_handle_t kernel = fixture_kernel(module, "constants");
    int *out = fixture_shared(&fixture, 64);
    float *floats = fixture_shared(&fixture, 64);
    MUST(zeKernelSetArgumentValue(kernel, 1, sizeof(floats), &floats));
    MUST(zeKernelSetArgumentValue(kernel, 0, sizeof(out), &out));
    ze_command_list_handle_t list = fixture_immediate(&fixture, FIXTURE_SYNCHRONOUS);
    const ze_group_count_t groups = {4, 1, 1};
    MUST(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    cr_assert_eq(out[3], 27);
    cr_assert_eq(floats[0], 0.5f);
    MUST(zeCommandListDestroy(list));
    MUST(zeMemFree(fixture.context, out));
    MUST(zeMemFree(fixture.context, floats));
    MUST(zeKernelDestroy(kernel));
    MUST(zeModuleDestroy(module));
    free(bytes);
    fixture_finish(&fixture);
}

// Programs keep native binaries by the driver's version (SYCL's persistent cache does): a binary of
// another format must not be found under the same one.
Test(ze_cpu_modules, the_version_of_the_driver_follows_the_format_of_native_binaries)
{
    struct fixture fixture;
    fixture_init(&fixture);
    ze_module_handle_t module = fixture_module(&fixture, "kernels", NULL);
    size_t size_bytes;
    uint8_t *bytes = native_of(module, &size_bytes);
    ze_driver_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES};
    MUST(zeDriverGetProperties(fixture.driver, &properties));
    cr_assert_eq(properties.driverVersion >> 24, bytes[7]);
    cr_assert_neq(properties.driverVersion & 0xffffff, 0, "the runtime's version is in it");
    free(bytes);
    MUST(zeModuleDestroy(module));
    fixture_finish(&fixture);
}

Test(ze_cpu_modules, refuses_damaged_native_binaries)
{
    struct fixture fixture;
    fixture_init(&fixture);
    ze_module_handle_t module = fixture_module(&fixture, "exporter", NULL);
    size_t size_bytes;
    uint8_t *bytes = native_of(module, &size_bytes);
    MUST(zeModuleDestroy(module));
    char log[1024];
    for (size_t cut = 1; cut < size_bytes; cut += size_bytes / 50 + 1)
        cr_assert_eq(create(&fixture, ZE_MODULE_FORMAT_NATIVE, bytes, cut, NULL, NULL, &module, log,
                            sizeof(log)),
                     ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
    for (size_t i = 0; i < size_bytes; i += size_bytes / 50 + 1) {
        bytes[i] ^= 0x10;
        cr_assert_eq(create(&fixture, ZE_MODULE_FORMAT_NATIVE, bytes, size_bytes, NULL, NULL,
                            &module, log, sizeof(log)),
                     ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
        bytes[i] ^= 0x10;
    }
    free(bytes);
    fixture_finish(&fixture);
}

Test(ze_cpu_modules, refuses_broken_spirv_with_a_log)
{
    struct fixture fixture;
    fixture_init(&fixture);
    size_t size_bytes;
    uint8_t *bytes = fixture_read("kernels", &size_bytes);
    ze_module_handle_t module;
    char log[1024];
    for (size_t cut = 4; cut < size_bytes; cut += size_bytes / 40 / 4 * 4 + 4) {
        cr_assert_eq(create(&fixture, ZE_MODULE_FORMAT_IL_SPIRV, bytes, cut, NULL, NULL, &module,
                            log, sizeof(log)),
                     ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
        cr_assert(strstr(log, "error") != NULL);
    }
    cr_assert_eq(create(&fixture, ZE_MODULE_FORMAT_IL_SPIRV, bytes, size_bytes, NULL, "-bogus",
                        &module, log, sizeof(log)),
                 ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    cr_assert(strstr(log, "-bogus") != NULL);
    free(bytes);
    fixture_finish(&fixture);
}

Test(ze_cpu_modules, fails_silently_on_an_unknown_specialization_id)
{
    struct fixture fixture;
    fixture_init(&fixture);
    size_t size_bytes;
    uint8_t *bytes = fixture_read("kernels", &size_bytes);
    const uint32_t ids[] = {7, 4711};
    const int value = 1;
    const void *values[] = {&value, &value};
    const ze_module_constants_t constants = {2, ids, values};
    ze_module_handle_t module;
    char log[1024] = "something";
    cr_assert_eq(create(&fixture, ZE_MODULE_FORMAT_IL_SPIRV, bytes, size_bytes, &constants, NULL,
                        &module, log, sizeof(log)),
                 ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    cr_assert_str_empty(log);
    free(bytes);
    fixture_finish(&fixture);
}

Test(ze_cpu_modules, lists_kernels_and_their_properties)
{
    struct fixture fixture;
    fixture_init(&fixture);
    ze_module_handle_t module = fixture_module(&fixture, "kernels", NULL);
    uint32_t count = 0;
    MUST(zeModuleGetKernelNames(module, &count, NULL));
    cr_assert_eq(count, 10);
    const char *names[10];
    MUST(zeModuleGetKernelNames(module, &count, names));
    bool is_found = false;
    for (uint32_t i = 0; i < count; i++)
        is_found = is_found || strcmp(names[i], "shaped") == 0;
    cr_assert(is_found);
    ze_kernel_handle_t kernel = fixture_kernel(module, "shaped");
    ze_kernel_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES};
    MUST(zeKernelGetProperties(kernel, &properties));
    cr_assert_eq(properties.numKernelArgs, 1);
    cr_assert_eq(properties.requiredGroupSizeX, 8);
    cr_assert_eq(properties.requiredGroupSizeY, 2);
    cr_assert(properties.maxSubgroupSize >= 1);
    cr_assert_eq(zeKernelSetGroupSize(kernel, 4, 2, 1),
                 ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
    char name[16];
    size_t size_bytes = sizeof(name);
    MUST(zeKernelGetName(kernel, &size_bytes, name));
    cr_assert_str_eq(name, "shaped");
    char text[64] = "", *attributes = text;
    uint32_t attribute_bytes = 0;
    MUST(zeKernelGetSourceAttributes(kernel, &attribute_bytes, NULL));
    cr_assert(attribute_bytes < sizeof(text));
    MUST(zeKernelGetSourceAttributes(kernel, &attribute_bytes, &attributes));
    cr_assert_str_eq(text, "reqd_work_group_size(8,2,1) work_group_size_hint(4,2,1)");
    MUST(zeKernelDestroy(kernel));
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "none"};
    cr_assert_eq(zeKernelCreate(module, &desc, &kernel), ZE_RESULT_ERROR_INVALID_KERNEL_NAME);
    MUST(zeModuleDestroy(module));
    fixture_finish(&fixture);
}

Test(ze_cpu_modules, checks_arguments_against_the_kernel)
{
    struct fixture fixture;
    fixture_init(&fixture);
    ze_module_handle_t module = fixture_module(&fixture, "kernels", NULL);
    ze_kernel_handle_t kernel = fixture_kernel(module, "reverse_in_group");
    int *data = fixture_shared(&fixture, 64 * sizeof(int));
    cr_assert_eq(zeKernelSetArgumentValue(kernel, 2, 8, &data),
                 ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX);
    cr_assert_eq(zeKernelSetArgumentValue(kernel, 0, 4, &data),
                 ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
    cr_assert_eq(zeKernelSetArgumentValue(kernel, 1, 8, &data),
                 ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
    for (int i = 0; i < 64; i++)
        data[i] = i;
    MUST(zeKernelSetArgumentValue(kernel, 0, sizeof(data), &data));
    MUST(zeKernelSetArgumentValue(kernel, 1, 16 * sizeof(int), NULL));
    MUST(zeKernelSetGroupSize(kernel, 16, 1, 1));
    cr_assert_eq(zeKernelSetGroupSize(kernel, 0, 1, 1),
                 ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
    cr_assert_eq(zeKernelSetGroupSize(kernel, 1 << 20, 1, 1),
                 ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
    ze_command_list_handle_t list = fixture_immediate(&fixture, FIXTURE_SYNCHRONOUS);
    const ze_group_count_t groups = {4, 1, 1};
    MUST(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    for (int i = 0; i < 64; i++)
        cr_assert_eq(data[i], i / 16 * 16 + 15 - i % 16);
    MUST(zeCommandListDestroy(list));
    MUST(zeMemFree(fixture.context, data));
    MUST(zeKernelDestroy(kernel));
    MUST(zeModuleDestroy(module));
    fixture_finish(&fixture);
}

Test(ze_cpu_modules, have_atomic_loads_and_stores_through_generic_pointers)
{
    enum { COUNT = 64 };
    const char *const flags[] = {NULL, "-cl-std=CL1.2 -cl-mad-enable"};
    struct fixture fixture;
    fixture_init(&fixture);
    size_t size_bytes;
    uint8_t *bytes = fixture_read("generic_atomics", &size_bytes);
    ze_command_list_handle_t list = fixture_immediate(&fixture, FIXTURE_SYNCHRONOUS);
    int *places = fixture_shared(&fixture, COUNT * sizeof(int));
    int *numbers = fixture_shared(&fixture, COUNT * sizeof(int));
    for (int round = 0; round < 2; round++) {
        ze_module_handle_t module;
        char log[4096] = "";
        MUST(create(&fixture, ZE_MODULE_FORMAT_IL_SPIRV, bytes, size_bytes, NULL, flags[round],
                    &module, log, sizeof(log)));
        ze_kernel_handle_t kernel = fixture_kernel(module, "exchange_numbers");
        for (int i = 0; i < COUNT; i++) {
            places[i] = 100 + i;
            numbers[i] = i;
        }
        MUST(zeKernelSetArgumentValue(kernel, 0, sizeof(places), &places));
        MUST(zeKernelSetArgumentValue(kernel, 1, sizeof(numbers), &numbers));
        MUST(zeKernelSetArgumentValue(kernel, 2, 16 * sizeof(int), NULL));
        MUST(zeKernelSetGroupSize(kernel, 16, 1, 1));
        MUST(zeCommandListAppendLaunchKernel(list, kernel, &(ze_group_count_t){COUNT / 16, 1, 1},
                                             NULL, 0, NULL));
        for (int i = 0; i < COUNT; i++)
            cr_assert(numbers[i] == (i & 1 ? -1 : 100 + i) && places[i] == (i & 1 ? 100 + i : i),
                      "%d: %d and %d", i, numbers[i], places[i]);
        MUST(zeKernelDestroy(kernel));
        MUST(zeModuleDestroy(module));
    }
    MUST(zeMemFree(fixture.context, places));
    MUST(zeMemFree(fixture.context, numbers));
    MUST(zeCommandListDestroy(list));
    free(bytes);
    fixture_finish(&fixture);
}

// Importer and exporter, from SPIR-V or by way of their native binaries.
static void link_and_run(const struct fixture *fixture, ze_module_handle_t importer,
                         ze_module_handle_t exporter)
{
    ze_module_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_MODULE_PROPERTIES};
    MUST(zeModuleGetProperties(importer, &properties));
    cr_assert_eq(properties.flags, ZE_MODULE_PROPERTY_FLAG_IMPORTS);
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
                                   .pKernelName = "use_twice"};
    ze_kernel_handle_t use;
    cr_assert_eq(zeKernelCreate(importer, &desc, &use), ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED);
    ze_module_handle_t modules[] = {importer, exporter};
    ze_module_build_log_handle_t log;
    MUST(zeModuleDynamicLink(2, modules, &log));
    MUST(zeModuleBuildLogDestroy(log));
    MUST(zeModuleGetProperties(importer, &properties));
    cr_assert_eq(properties.flags, 0);
    MUST(zeKernelCreate(importer, &desc, &use));
    cr_assert_eq(run_scalar(fixture, use, 21), 42);
    ze_kernel_handle_t read = fixture_kernel(importer, "read_counter");
    cr_assert_eq(run_scalar(fixture, read, 0), 100);
    ze_kernel_handle_t write = fixture_kernel(exporter, "write_counter");
    const int value = 77;
    MUST(zeKernelSetArgumentValue(write, 0, sizeof(value), &value));
    ze_command_list_handle_t list = fixture_immediate(fixture, FIXTURE_SYNCHRONOUS);
    const ze_group_count_t groups = {1, 1, 1};
    MUST(zeCommandListAppendLaunchKernel(list, write, &groups, NULL, 0, NULL));
    cr_assert_eq(run_scalar(fixture, read, 0), 77);
    cr_assert_neq(zeModuleDynamicLink(2, modules, NULL), ZE_RESULT_SUCCESS);
    int *pointer;
    size_t size_bytes;
    MUST(zeModuleGetGlobalPointer(exporter, "shared_counter", &size_bytes, (void **)&pointer));
    cr_assert_eq(size_bytes, 4);
    cr_assert_eq(*pointer, 77);
    MUST(zeCommandListDestroy(list));
    MUST(zeKernelDestroy(use));
    MUST(zeKernelDestroy(read));
    MUST(zeKernelDestroy(write));
}

Test(ze_cpu_modules, links_modules_that_share_their_globals)
{
    struct fixture fixture;
    fixture_init(&fixture);
    ze_module_handle_t importer = fixture_module(&fixture, "importer", NULL);
    ze_module_handle_t exporter = fixture_module(&fixture, "exporter", NULL);
    size_t importer_bytes, exporter_bytes;
    uint8_t *importer_native = native_of(importer, &importer_bytes);
    uint8_t *exporter_native = native_of(exporter, &exporter_bytes);
    link_and_run(&fixture, importer, exporter);
    MUST(zeModuleDestroy(importer));
    MUST(zeModuleDestroy(exporter));
    char log[1024];
    MUST(create(&fixture, ZE_MODULE_FORMAT_NATIVE, importer_native, importer_bytes, NULL, NULL,
                &importer, log, sizeof(log)));
    cr_assert(strstr(log, "unresolved external symbol twice") != NULL, "%s", log);
    MUST(create(&fixture, ZE_MODULE_FORMAT_NATIVE, exporter_native, exporter_bytes, NULL, NULL,
                &exporter, log, sizeof(log)));
    link_and_run(&fixture, importer, exporter);
    MUST(zeModuleDestroy(importer));
    MUST(zeModuleDestroy(exporter));
    free(importer_native);
    free(exporter_native);
    fixture_finish(&fixture);
}

Test(ze_cpu_modules, names_what_a_link_misses)
{
    struct fixture fixture;
    fixture_init(&fixture);
    ze_module_handle_t importer = fixture_module(&fixture, "importer", NULL);
    ze_module_build_log_handle_t log;
    cr_assert_eq(zeModuleDynamicLink(1, &importer, &log), ZE_RESULT_ERROR_MODULE_LINK_FAILURE);
    char text[1024];
    size_t size_bytes = sizeof(text);
    MUST(zeModuleBuildLogGetString(log, &size_bytes, text));
    cr_assert(strstr(text, "error: unresolved external symbol twice") != NULL, "%s", text);
    MUST(zeModuleBuildLogDestroy(log));
    MUST(zeModuleDestroy(importer));
    fixture_finish(&fixture);
}

Test(ze_cpu_modules, builds_one_module_of_several_inputs)
{
    struct fixture fixture;
    fixture_init(&fixture);
    size_t sizes[2];
    uint8_t *inputs[] = {fixture_read("importer", &sizes[0]), fixture_read("exporter", &sizes[1])};
    const uint8_t *borrowed[] = {inputs[0], inputs[1]};
    const ze_module_program_exp_desc_t program = {
        .stype = ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC,
        .count = 2,
        .inputSizes = sizes,
        .pInputModules = borrowed,
    };
    const ze_module_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
        .pNext = &program,
        .format = ZE_MODULE_FORMAT_IL_SPIRV,
    };
    ze_module_handle_t module;
    MUST(zeModuleCreate(fixture.context, fixture.device, &desc, &module, NULL));
    ze_kernel_handle_t kernel = fixture_kernel(module, "use_twice");
    cr_assert_eq(run_scalar(&fixture, kernel, 4), 8);
    MUST(zeKernelDestroy(kernel));
    MUST(zeModuleDestroy(module));
    free(inputs[0]);
    free(inputs[1]);
    fixture_finish(&fixture);
}

// Cuts the one file of the folder, and says how long it was.
static size_t cut_file(const char *folder)
{
    char path[1024] = "";
    struct stat info;
    DIR *entries = opendir(folder);
    cr_assert_not_null(entries);
    for (const struct dirent *entry = readdir(entries); entry; entry = readdir(entries))
        if (entry->d_name[0] != '.')
            snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
    closedir(entries);
    cr_assert_eq(stat(path, &info), 0);
    cr_assert_eq(truncate(path, info.st_size - 100), 0);
    return (size_t)info.st_size;
}

// Built, loaded from the folder, and built again since the file is damaged.
Test(ze_cpu_modules, code_of_the_folder_computes_the_same_and_has_the_same_log)
{
    setenv("ZE_CPU_CODE_FOLDER", test_env_scratch_path("code"), 1);
    char logs[3][4096];
    size_t size_bytes = 0;
    struct fixture fixture;
    fixture_init(&fixture);
    size_t spirv_bytes;
    uint8_t *spirv = fixture_read("kernels", &spirv_bytes);
    for (int i = 0; i < 3; i++) {
        ze_module_handle_t module;
        MUST(create(&fixture, ZE_MODULE_FORMAT_IL_SPIRV, spirv, spirv_bytes, NULL, NULL, &module,
                    logs[i], sizeof(logs[i])));
        ze_kernel_handle_t kernel = fixture_kernel(module, "scale");
        const int factor = 3;
        MUST(zeKernelSetArgumentValue(kernel, 1, sizeof(factor), &factor));
        cr_assert_eq(run_scalar(&fixture, kernel, 5), 15);
        MUST(zeKernelDestroy(kernel));
        MUST(zeModuleDestroy(module));
        cr_assert_str_eq(logs[i], logs[0]);
        if (i == 1)
            size_bytes = cut_file(getenv("ZE_CPU_CODE_FOLDER"));
    }
    cr_assert_eq(cut_file(getenv("ZE_CPU_CODE_FOLDER")), size_bytes);
    free(spirv);
    fixture_finish(&fixture);
}

// The driver keeps programs that nothing uses for the next module of the same code.
Test(ze_cpu_modules, a_module_of_known_code_has_its_own_global_variables)
{
    setenv("ZE_CPU_CODE_FOLDER", test_env_scratch_path("code"), 1);
    struct fixture fixture;
    fixture_init(&fixture);
    for (int i = 0; i < 3; i++) {
        ze_module_handle_t modules[] = {fixture_module(&fixture, "importer", NULL),
                                        fixture_module(&fixture, "exporter", NULL)};
        link_and_run(&fixture, modules[0], modules[1]);
        MUST(zeModuleDestroy(modules[0]));
        MUST(zeModuleDestroy(modules[1]));
    }
    fixture_finish(&fixture);
}

static int scale(const struct fixture *fixture, ze_module_handle_t module, int factor)
{
    ze_kernel_handle_t kernel = fixture_kernel(module, "scale");
    MUST(zeKernelSetArgumentValue(kernel, 1, sizeof(factor), &factor));
    const int result = run_scalar(fixture, kernel, 5);
    MUST(zeKernelDestroy(kernel));
    return result;
}

Test(ze_cpu_modules, modules_of_one_code_live_side_by_side)
{
    setenv("ZE_CPU_CODE_FOLDER", test_env_scratch_path("code"), 1);
    struct fixture fixture;
    fixture_init(&fixture);
    ze_module_handle_t before = fixture_module(&fixture, "kernels", NULL);
    MUST(zeModuleDestroy(before));
    for (int i = 1; i < 20; i++) {
        ze_module_handle_t first = fixture_module(&fixture, "kernels", NULL);
        ze_module_handle_t second = fixture_module(&fixture, "kernels", NULL);
        cr_assert_eq(scale(&fixture, first, i), 5 * i);
        MUST(zeModuleDestroy(first));
        cr_assert_eq(scale(&fixture, second, i + 1), 5 * (i + 1));
        MUST(zeModuleDestroy(second));
    }
    fixture_finish(&fixture);
}
