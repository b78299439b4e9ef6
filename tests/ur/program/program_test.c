// SPDX-License-Identifier: MIT
// Programs in all their states, for one device and for two.
#include "test_env.h"
#include "ur_fixture.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(program, .init = ur_set_up, .fini = ur_tear_down);
TestSuite(program_of_two, .init = ur_set_up_two, .fini = ur_tear_down);

// Two devices whose code is not the same: the first takes larger allocations than its driver
// offers.
static void set_up_two_apart(void)
{
    setenv("ZE_CPU_MAX_ALLOCATION", "64", 1);
    setenv("ZE_CPU_LIMITED_DEVICES", "1", 1);
    setenv("ZEPI_LARGE_ALLOCATIONS", "on", 1);
    ur_set_up_two();
}

TestSuite(program_of_two_apart, .init = set_up_two_apart, .fini = ur_tear_down);

// The program's answer in memory of the test's own, with its size.
static void *get(ur_program_handle_t program, ur_program_info_t query, size_t *out_size)
{
    UR_OK(urProgramGetInfo(program, query, 0, NULL, out_size));
    char *answer = calloc(*out_size + 1, 1);
    if (*out_size > 0)
        UR_OK(urProgramGetInfo(program, query, *out_size, answer, NULL));
    return answer;
}

static ur_program_binary_type_t binary_type(ur_program_handle_t program, ur_device_handle_t device)
{
    ur_program_binary_type_t type;
    UR_OK(urProgramGetBuildInfo(program, device, UR_PROGRAM_BUILD_INFO_BINARY_TYPE, sizeof(type),
                                &type, NULL));
    return type;
}

static ur_program_build_status_t status(ur_program_handle_t program)
{
    ur_program_build_status_t value;
    UR_OK(urProgramGetBuildInfo(program, gear.device, UR_PROGRAM_BUILD_INFO_STATUS, sizeof(value),
                                &value, NULL));
    return value;
}

// The log; free() it.
static char *get_text(ur_program_handle_t program, ur_program_build_info_t query)
{
    size_t size;
    UR_OK(urProgramGetBuildInfo(program, gear.device, query, 0, NULL, &size));
    char *text = malloc(size);
    UR_OK(urProgramGetBuildInfo(program, gear.device, query, size, text, NULL));
    cr_assert_eq(strlen(text) + 1, size);
    return text;
}

// The result of kernel `name` of one argument on a number in memory.
static int32_t run(ur_program_handle_t program, ur_device_handle_t device, const char *name,
                   int32_t number)
{
    ur_queue_handle_t queue = ur_queue(device, 0);
    ur_kernel_handle_t kernel;
    int32_t *memory;
    UR_OK(urUSMSharedAlloc(gear.context, device, NULL, NULL, 4, (void **)&memory));
    UR_OK(urKernelCreate(program, name, &kernel));
    *memory = number;
    const ur_exp_kernel_arg_properties_t argument = UR_POINTER(0, memory);
    UR_OK(ur_launch(queue, kernel, 1, 1, &argument, 0, NULL, NULL));
    UR_OK(urQueueFinish(queue));
    number = *memory;
    UR_OK(urKernelRelease(kernel));
    ur_free(memory);
    UR_OK(urQueueRelease(queue));
    return number;
}

Test(program, goes_from_il_to_an_executable)
{
    struct test_bytes spirv = test_env_read_spirv("twenty_kernels");
    ur_program_handle_t program = ur_input("twenty_kernels");
    size_t size;
    void *il = get(program, UR_PROGRAM_INFO_IL, &size);
    cr_assert_eq(size, spirv.size_bytes);
    cr_assert_eq(memcmp(il, spirv.data, size), 0);
    cr_assert_eq(status(program), UR_PROGRAM_BUILD_STATUS_NONE);
    cr_assert_eq(binary_type(program, gear.device), UR_PROGRAM_BINARY_TYPE_NONE);
    UR_OK(urProgramBuild(gear.context, program, "-ze-opt-disable"));
    cr_assert_eq(status(program), UR_PROGRAM_BUILD_STATUS_SUCCESS);
    cr_assert_eq(binary_type(program, gear.device), UR_PROGRAM_BINARY_TYPE_EXECUTABLE);
    char *options = get_text(program, UR_PROGRAM_BUILD_INFO_OPTIONS);
    cr_assert_str_eq(options, "-ze-opt-disable");
    size_t count;
    UR_OK(urProgramGetInfo(program, UR_PROGRAM_INFO_NUM_KERNELS, sizeof(count), &count, NULL));
    cr_assert_eq(count, 20);
    char *names = get(program, UR_PROGRAM_INFO_KERNEL_NAMES, &size);
    cr_assert_eq(strlen(names) + 1, size);
    size_t found = 0;
    for (char *name = strtok(names, ";"); name; name = strtok(NULL, ";"))
        found += strncmp(name, "add_", 4) == 0;
    cr_assert_eq(found, 20);
    cr_assert_eq(run(program, gear.device, "add_17", 100), 117);
    free(names);
    free(options);
    free(il);
    free(spirv.data);
    UR_OK(urProgramRelease(program));
}

// Building again is allowed, with other values or options; kernels of before stay what they are.
Test(program, takes_the_constants_that_are_set_before_a_build)
{
    ur_program_handle_t program = ur_input("scaled_copy");
    ur_kernel_handle_t kernels[3];
    int32_t *memory = ur_shared(2 * sizeof(int32_t));
    for (int32_t i = 0; i < 3; i++) {
        const int32_t factor = 10 + i;
        const float other = 1.5f;
        const ur_specialization_constant_info_t constants[] = {{7, sizeof(factor), &factor},
                                                               {3, sizeof(other), &other}};
        UR_OK(urProgramSetSpecializationConstants(program, 2, constants));
        UR_OK(urProgramBuild(gear.context, program, NULL));
        UR_OK(urKernelCreate(program, "scaled_copy_int", &kernels[i]));
    }
    for (int32_t i = 0; i < 3; i++) {
        const ur_exp_kernel_arg_properties_t arguments[] = {UR_POINTER(0, memory),
                                                            UR_POINTER(1, memory + 1)};
        memory[0] = 5;
        UR_OK(ur_launch(gear.queue, kernels[i], 1, 2, arguments, 0, NULL, NULL));
        UR_OK(urQueueFinish(gear.queue));
        cr_assert_eq(memory[1], 5 * (10 + i));
        UR_OK(urKernelRelease(kernels[i]));
    }
    ur_free(memory);
    UR_OK(urProgramRelease(program));
}

// More than fit on the stack, and each type.
Test(program, takes_many_constants_at_once)
{
    ur_program_handle_t program = ur_input("scaled_copy");
    const char c = 11;
    const int16_t s = -12;
    const int32_t i = 13;
    const int64_t l = -14;
    const bool no = false;
    const float f = 2.5f;
    ur_specialization_constant_info_t constants[30];
    for (size_t n = 0; n < 24; n++)
        constants[n] = (ur_specialization_constant_info_t){7, sizeof(i), &i};
    constants[24] = (ur_specialization_constant_info_t){11, 1, &c};
    constants[25] = (ur_specialization_constant_info_t){5, 2, &s};
    constants[26] = (ur_specialization_constant_info_t){2, 8, &l};
    constants[27] = (ur_specialization_constant_info_t){13, 1, &no};
    constants[28] = (ur_specialization_constant_info_t){3, 4, &f};
    UR_OK(urProgramSetSpecializationConstants(program, 29, constants));
    UR_OK(urProgramBuild(gear.context, program, NULL));
    ur_kernel_handle_t kernel;
    UR_OK(urKernelCreate(program, "show_constants", &kernel));
    int64_t *out = ur_shared(6 * sizeof(int64_t));
    const ur_exp_kernel_arg_properties_t argument = UR_POINTER(0, out);
    UR_OK(ur_launch(gear.queue, kernel, 1, 1, &argument, 0, NULL, NULL));
    UR_OK(urQueueFinish(gear.queue));
    int32_t bits;
    memcpy(&bits, &f, sizeof(bits));
    const int64_t expected[] = {c, s, i, l, 0, bits};
    for (int n = 0; n < 6; n++)
        cr_assert_eq(out[n], expected[n], "constant %d", n);
    ur_free(out);
    UR_OK(urKernelRelease(kernel));
    UR_OK(urProgramRelease(program));
}

Test(program, is_linked_of_compiled_ones)
{
    ur_program_handle_t objects[] = {ur_input("importer"), ur_input("exporter")};
    ur_program_handle_t program;
    for (int i = 0; i < 2; i++) {
        UR_OK(urProgramCompile(gear.context, objects[i], NULL));
        cr_assert_eq(binary_type(objects[i], gear.device), UR_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
    }
    UR_OK(urProgramLink(gear.context, 2, objects, NULL, &program));
    cr_assert_eq(status(program), UR_PROGRAM_BUILD_STATUS_SUCCESS);
    cr_assert_eq(binary_type(program, gear.device), UR_PROGRAM_BINARY_TYPE_EXECUTABLE);
    for (int i = 0; i < 2; i++)
        UR_OK(urProgramRelease(objects[i]));
    cr_assert_eq(run(program, gear.device, "triple_and_offset", 2), 106);
    size_t size;
    free(get(program, UR_PROGRAM_INFO_IL, &size));
    cr_assert_eq(size, 0);
    UR_FAILS_SAYING(urProgramBuild(gear.context, program, NULL), UR_RESULT_ERROR_INVALID_OPERATION,
                    "nothing to compile");
    UR_OK(urProgramRelease(program));
}

Test(program, is_linked_for_the_devices_named)
{
    ur_program_handle_t objects[] = {ur_input("importer"), ur_input("exporter")};
    ur_program_handle_t program;
    for (int i = 0; i < 2; i++)
        UR_OK(urProgramCompileExp(objects[i], 1, &gear.device, 0, NULL));
    UR_OK(urProgramLinkExp(gear.context, 1, &gear.device, 0, 2, objects, NULL, &program));
    cr_assert_eq(run(program, gear.device, "triple_and_offset", 3), 109);
    UR_OK(urProgramRelease(program));
    // Each of them becomes what both make together.
    UR_OK(urProgramDynamicLinkExp(gear.context, 2, objects));
    cr_assert_eq(run(objects[0], gear.device, "triple_and_offset", 4), 112);
    for (int i = 0; i < 2; i++)
        UR_OK(urProgramRelease(objects[i]));
}

// The failed program is there for its log, and nothing else.
Test(program, whose_link_fails_has_a_log_that_names_the_symbol)
{
    ur_program_handle_t object = ur_input("unresolved_import");
    ur_program_handle_t program = NULL;
    ur_kernel_handle_t kernel;
    UR_OK(urProgramCompile(gear.context, object, NULL));
    UR_FAILS_SAYING(urProgramLink(gear.context, 1, &object, NULL, &program),
                    UR_RESULT_ERROR_PROGRAM_LINK_FAILURE, "nobody_defines_this");
    cr_assert_not_null(program);
    cr_assert_eq(status(program), UR_PROGRAM_BUILD_STATUS_ERROR);
    char *log = get_text(program, UR_PROGRAM_BUILD_INFO_LOG);
    cr_assert(strstr(log, "nobody_defines_this"), "%s", log);
    UR_FAILS(urKernelCreate(program, "call_unresolved", &kernel),
             UR_RESULT_ERROR_INVALID_PROGRAM_EXECUTABLE);
    free(log);
    UR_OK(urProgramRelease(program));
    UR_OK(urProgramRelease(object));
}

Test(program, whose_build_fails_has_a_log_and_can_be_built_again)
{
    ur_program_handle_t program = ur_input("unresolved_import");
    UR_FAILS(urProgramBuild(gear.context, program, NULL), UR_RESULT_ERROR_PROGRAM_BUILD_FAILURE);
    cr_assert_eq(status(program), UR_PROGRAM_BUILD_STATUS_ERROR);
    char *log = get_text(program, UR_PROGRAM_BUILD_INFO_LOG);
    cr_assert(strstr(log, "nobody_defines_this"), "%s", log);
    free(log);
    // A program that may have unresolved symbols is an object.
    UR_OK(urProgramBuildExp(program, 1, &gear.device, UR_EXP_PROGRAM_FLAG_ALLOW_UNRESOLVED_SYMBOLS,
                            NULL));
    cr_assert_eq(status(program), UR_PROGRAM_BUILD_STATUS_SUCCESS);
    cr_assert_eq(binary_type(program, gear.device), UR_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
    UR_OK(urProgramRelease(program));
}

static char *get_log_of(ur_program_handle_t program, ur_device_handle_t device)
{
    size_t size;
    UR_OK(urProgramGetBuildInfo(program, device, UR_PROGRAM_BUILD_INFO_LOG, 0, NULL, &size));
    char *log = malloc(size);
    UR_OK(urProgramGetBuildInfo(program, device, UR_PROGRAM_BUILD_INFO_LOG, size, log, NULL));
    return log;
}

Test(program_of_two_apart, whose_build_fails_for_one_device_has_the_log_of_the_other)
{
    const char options[] = "-cl-mad-enable -cl-no-signed-zeros -cl-finite-math-only";
    if (test_env_is_on_intel_driver())
        cr_skip_test("Intel's compiler says nothing of a build that succeeds");
    ur_program_handle_t program = ur_input("scaled_copy");
    test_ze_cpu_require_own_compiler();
    UR_OK(urProgramBuildExp(program, 1, &gear.devices[0], 0, options));
    char *before = get_log_of(program, gear.devices[0]);
    cr_assert_neq(before[0], '\0', "the driver's compiler says something");
    UR_OK(urProgramRelease(program));
    program = ur_input("scaled_copy");
    // The first device's code is known by now.
    cr_assert_eq(ze_cpu.set_fail("zeModuleCreate:1:ZE_RESULT_ERROR_MODULE_BUILD_FAILURE"), 0);
    UR_FAILS(urProgramBuild(gear.context, program, options), UR_RESULT_ERROR_PROGRAM_BUILD_FAILURE);
    char *log = get_log_of(program, gear.devices[0]);
    char *failure = get_log_of(program, gear.devices[1]);
    cr_assert_str_eq(log, before);
    cr_assert(strstr(failure, "zeModuleCreate"), "%s", failure);
    free(before);
    free(log);
    free(failure);
    UR_OK(urProgramRelease(program));
}

// A whole life as native code: out of one program, into another.
static void check_binaries(void)
{
    ur_program_handle_t program = ur_executable("twenty_kernels");
    const uint32_t count = gear.device_count;
    size_t sizes[UR_TEST_DEVICES];
    uint8_t *binaries[UR_TEST_DEVICES];
    size_t answer_size;
    UR_OK(urProgramGetInfo(program, UR_PROGRAM_INFO_BINARY_SIZES, sizeof(sizes), sizes,
                           &answer_size));
    cr_assert_eq(answer_size, count * sizeof(size_t));
    for (uint32_t i = 0; i < count; i++) {
        cr_assert(sizes[i] > 0);
        binaries[i] = malloc(sizes[i] + 1);
        binaries[i][sizes[i]] = 0x99; // not a byte more is written
    }
    UR_OK(urProgramGetInfo(program, UR_PROGRAM_INFO_BINARIES, count * sizeof(binaries[0]), binaries,
                           &answer_size));
    cr_assert_eq(answer_size, count * sizeof(binaries[0]));
    for (uint32_t i = 0; i < count; i++)
        cr_assert_eq(binaries[i][sizes[i]], 0x99);
    UR_OK(urProgramRelease(program));

    const uint64_t spirv_before = ze_cpu.get_count("compile:spirv");
    UR_OK(urProgramCreateWithBinary(gear.context, count, gear.devices, sizes,
                                    (const uint8_t **)binaries, NULL, &program));
    // Before it is built it has the bytes that it was made of.
    size_t again[UR_TEST_DEVICES];
    UR_OK(urProgramGetInfo(program, UR_PROGRAM_INFO_BINARY_SIZES, sizeof(again), again, NULL));
    cr_assert_eq(memcmp(again, sizes, count * sizeof(size_t)), 0);
    UR_OK(urProgramBuild(gear.context, program, NULL));
    for (uint32_t i = 0; i < count; i++)
        cr_assert_eq(run(program, gear.devices[i], "add_4", 1), 5);
    cr_assert_eq(ze_cpu.get_count("compile:spirv"), spirv_before);
    const int32_t value = 1;
    const ur_specialization_constant_info_t constant = {7, sizeof(value), &value};
    UR_FAILS(urProgramSetSpecializationConstants(program, 1, &constant),
             UR_RESULT_ERROR_INVALID_PROGRAM);
    for (uint32_t i = 0; i < count; i++)
        free(binaries[i]);
    UR_OK(urProgramRelease(program));
}

// Native code is an object as it is: it is loaded once, and linked without being compiled.
Test(program, of_a_binary_is_loaded_once_and_linked_as_it_is)
{
    ur_program_handle_t program = ur_executable("twenty_kernels");
    ur_program_handle_t linked;
    size_t size;
    UR_OK(urProgramGetInfo(program, UR_PROGRAM_INFO_BINARY_SIZES, sizeof(size), &size, NULL));
    uint8_t *binary = malloc(size);
    UR_OK(urProgramGetInfo(program, UR_PROGRAM_INFO_BINARIES, sizeof(binary), &binary, NULL));
    UR_OK(urProgramRelease(program));
    const uint64_t loads_before = ze_cpu.get_count("zeModuleCreate");
    UR_OK(urProgramCreateWithBinary(gear.context, 1, &gear.device, &size, (const uint8_t **)&binary,
                                    NULL, &program));
    cr_assert_eq(status(program), UR_PROGRAM_BUILD_STATUS_NONE);
    cr_assert_eq(binary_type(program, gear.device), UR_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
    UR_OK(urProgramBuild(gear.context, program, NULL));
    cr_assert_eq(ze_cpu.get_count("zeModuleCreate"), loads_before + 1);
    UR_OK(urProgramRelease(program));
    UR_OK(urProgramCreateWithBinary(gear.context, 1, &gear.device, &size, (const uint8_t **)&binary,
                                    NULL, &program));
    UR_OK(urProgramLink(gear.context, 1, &program, NULL, &linked));
    cr_assert_eq(run(linked, gear.device, "add_4", 1), 5);
    UR_OK(urProgramRelease(linked));
    UR_OK(urProgramRelease(program));
    free(binary);
}

// A program of the native code of a compiled object, with imports and exports of its own.
static ur_program_handle_t native_object(const char *name)
{
    ur_program_handle_t program = ur_input(name);
    size_t size;
    UR_OK(urProgramCompileExp(program, 1, &gear.device, 0, NULL));
    UR_OK(urProgramGetInfo(program, UR_PROGRAM_INFO_BINARY_SIZES, sizeof(size), &size, NULL));
    uint8_t *binary = malloc(size);
    UR_OK(urProgramGetInfo(program, UR_PROGRAM_INFO_BINARIES, sizeof(binary), &binary, NULL));
    UR_OK(urProgramRelease(program));
    UR_OK(urProgramCreateWithBinary(gear.context, 1, &gear.device, &size, (const uint8_t **)&binary,
                                    NULL, &program));
    free(binary);
    return program;
}

// As DPC++'s runtime links native code if the device has dynamic links.
Test(program, of_a_binary_is_linked_dynamically)
{
    ur_program_handle_t objects[] = {native_object("importer"), native_object("exporter")};
    ur_bool_t has_links = false;
    UR_OK(urDeviceGetInfo(gear.device, UR_DEVICE_INFO_DYNAMIC_LINK_SUPPORT_EXP, sizeof(has_links),
                          &has_links, NULL));
    cr_assert(has_links);
    const uint64_t spirv_before = ze_cpu.get_count("compile:spirv");
    for (int i = 0; i < 2; i++)
        UR_OK(urProgramBuildExp(objects[i], 1, &gear.device,
                                UR_EXP_PROGRAM_FLAG_ALLOW_UNRESOLVED_SYMBOLS, NULL));
    UR_OK(urProgramDynamicLinkExp(gear.context, 2, objects));
    cr_assert_eq(run(objects[0], gear.device, "triple_and_offset", 4), 112);
    cr_assert_eq(ze_cpu.get_count("compile:spirv"), spirv_before);
    for (int i = 0; i < 2; i++)
        UR_OK(urProgramRelease(objects[i]));
}

Test(program, that_is_linked_dynamically_forgets_the_failure_before)
{
    ur_program_handle_t objects[] = {native_object("importer"), native_object("exporter")};
    char log[4096] = "";
    cr_assert_eq(ze_cpu.set_fail("zeModuleCreate:*:ZE_RESULT_ERROR_MODULE_BUILD_FAILURE"), 0);
    UR_FAILS(urProgramBuild(gear.context, objects[0], "-g"), UR_RESULT_ERROR_PROGRAM_BUILD_FAILURE);
    UR_OK(urProgramGetBuildInfo(objects[0], gear.device, UR_PROGRAM_BUILD_INFO_LOG, sizeof(log),
                                log, NULL));
    cr_assert_str_not_empty(log);
    ze_cpu.set_fail(NULL);
    UR_OK(urProgramDynamicLinkExp(gear.context, 2, objects));
    UR_OK(urProgramGetBuildInfo(objects[0], gear.device, UR_PROGRAM_BUILD_INFO_LOG, sizeof(log),
                                log, NULL));
    cr_assert_str_empty(log);
    cr_assert_eq(status(objects[0]), UR_PROGRAM_BUILD_STATUS_SUCCESS);
    for (int i = 0; i < 2; i++)
        UR_OK(urProgramRelease(objects[i]));
}

Test(program, of_bytes_that_no_device_takes_is_an_invalid_binary)
{
    static const uint8_t few[] = {0, 1, 2, 3, 4};
    static const uint8_t header[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1}; // and nothing behind it
    static const uint8_t *const binaries[] = {few, header};
    size_t sizes[] = {sizeof(few), sizeof(header)};
    for (int i = 0; i < 2; i++) {
        ur_program_handle_t made = NULL;
        const uint8_t *binary = binaries[i];
        UR_FAILS(urProgramCreateWithBinary(gear.context, 1, &gear.device, &sizes[i], &binary, NULL,
                                           &made),
                 UR_RESULT_ERROR_INVALID_BINARY);
        cr_assert_null(made);
    }
}

Test(program, binaries_are_exact_and_load_again)
{
    check_binaries();
}

Test(program_of_two, binaries_are_exact_and_load_again)
{
    check_binaries();
}

Test(program_of_two, gives_the_binary_of_the_device_that_is_asked_for)
{
    ur_program_handle_t program = ur_executable("vector_add");
    size_t sizes[2];
    UR_OK(urProgramGetInfo(program, UR_PROGRAM_INFO_BINARY_SIZES, sizeof(sizes), sizes, NULL));
    uint8_t *binaries[2] = {NULL, malloc(sizes[1])};
    memset(binaries[1], 0, sizes[1]);
    UR_OK(urProgramGetInfo(program, UR_PROGRAM_INFO_BINARIES, sizeof(binaries), binaries, NULL));
    size_t set = 0;
    for (size_t i = 0; i < sizes[1]; i++)
        set += binaries[1][i] != 0;
    cr_assert(set > 0);
    free(binaries[1]);
    UR_OK(urProgramRelease(program));
}

Test(program_of_two, is_built_for_both)
{
    ur_program_handle_t program = ur_executable("twenty_kernels");
    ur_device_handle_t devices[2];
    uint32_t count;
    UR_OK(urProgramGetInfo(program, UR_PROGRAM_INFO_NUM_DEVICES, sizeof(count), &count, NULL));
    UR_OK(urProgramGetInfo(program, UR_PROGRAM_INFO_DEVICES, sizeof(devices), devices, NULL));
    cr_assert_eq(count, 2);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(devices[i], gear.devices[i]);
        cr_assert_eq(run(program, gear.devices[i], "add_6", 1), 7);
    }
    UR_OK(urProgramRelease(program));
}

// Builds the program, which it releases, for one device of its context.
static void build_for_one(ur_program_handle_t program, uint32_t which)
{
    size_t sizes[2];
    uint32_t count;
    // A device that is named twice counts once.
    ur_device_handle_t named[] = {gear.devices[which], gear.devices[which]};
    UR_OK(urProgramBuildExp(program, 1 + which, named, 0, NULL));
    // Its devices are the context's; one of them has code.
    UR_OK(urProgramGetInfo(program, UR_PROGRAM_INFO_NUM_DEVICES, sizeof(count), &count, NULL));
    UR_OK(urProgramGetInfo(program, UR_PROGRAM_INFO_BINARY_SIZES, sizeof(sizes), sizes, NULL));
    cr_assert_eq(count, 2);
    cr_assert(sizes[which] > 0);
    cr_assert_eq(sizes[1 - which], 0);
    ur_native_handle_t native;
    UR_OK(urProgramGetNativeHandle(program, &native));
    cr_assert_eq(run(program, gear.devices[which], "add_6", 1), 7);
    // The other one has no code to launch.
    ur_queue_handle_t queue = ur_queue(gear.devices[1 - which], 0);
    ur_kernel_handle_t kernel;
    int32_t *memory = ur_shared(4);
    const ur_exp_kernel_arg_properties_t argument = UR_POINTER(0, memory);
    UR_OK(urKernelCreate(program, "add_6", &kernel));
    UR_FAILS(ur_launch(queue, kernel, 1, 1, &argument, 0, NULL, NULL),
             UR_RESULT_ERROR_INVALID_KERNEL);
    UR_OK(urKernelRelease(kernel));
    ur_free(memory);
    UR_OK(urQueueRelease(queue));
    UR_OK(urProgramRelease(program));
}

Test(program_of_two, is_built_for_one_of_them)
{
    for (uint32_t which = 0; which < 2; which++)
        build_for_one(ur_input("twenty_kernels"), which);
}

// Creation loads the binaries of both; the build is for one all the same.
Test(program_of_two, of_binaries_is_built_for_one_of_them)
{
    for (uint32_t which = 0; which < 2; which++) {
        ur_program_handle_t program = ur_executable("twenty_kernels");
        size_t sizes[2];
        UR_OK(urProgramGetInfo(program, UR_PROGRAM_INFO_BINARY_SIZES, sizeof(sizes), sizes, NULL));
        uint8_t *binaries[2] = {malloc(sizes[0]), malloc(sizes[1])};
        UR_OK(
            urProgramGetInfo(program, UR_PROGRAM_INFO_BINARIES, sizeof(binaries), binaries, NULL));
        UR_OK(urProgramRelease(program));
        UR_OK(urProgramCreateWithBinary(gear.context, 2, gear.devices, sizes,
                                        (const uint8_t **)binaries, NULL, &program));
        build_for_one(program, which);
        free(binaries[0]);
        free(binaries[1]);
    }
}

Test(program_of_two, of_a_binary_for_one_is_for_that_one)
{
    ur_program_handle_t program = ur_executable("twenty_kernels");
    size_t sizes[2];
    UR_OK(urProgramGetInfo(program, UR_PROGRAM_INFO_BINARY_SIZES, sizeof(sizes), sizes, NULL));
    uint8_t *binaries[2] = {NULL, malloc(sizes[1])};
    UR_OK(urProgramGetInfo(program, UR_PROGRAM_INFO_BINARIES, sizeof(binaries), binaries, NULL));
    UR_OK(urProgramRelease(program));
    UR_OK(urProgramCreateWithBinary(gear.context, 1, &gear.devices[1], &sizes[1],
                                    (const uint8_t **)&binaries[1], NULL, &program));
    for (int is_built = 0; is_built < 2; is_built++) {
        ur_device_handle_t device;
        uint32_t count;
        UR_OK(urProgramGetInfo(program, UR_PROGRAM_INFO_NUM_DEVICES, sizeof(count), &count, NULL));
        UR_OK(urProgramGetInfo(program, UR_PROGRAM_INFO_DEVICES, sizeof(device), &device, NULL));
        cr_assert_eq(count, 1);
        cr_assert_eq(device, gear.devices[1]);
        if (!is_built)
            UR_OK(urProgramBuildExp(program, 1, &gear.devices[1], 0, NULL));
    }
    cr_assert_eq(run(program, gear.devices[1], "add_2", 1), 3);
    free(binaries[1]);
    UR_OK(urProgramRelease(program));
}

// A second context's build is no second compile.
Test(program, goes_through_the_build_cache)
{
    ur_program_handle_t program = ur_executable("vector_add");
    const uint64_t before = ze_cpu.get_count("compile:spirv");
    ur_context_handle_t context = gear.context;
    UR_OK(urContextCreate(1, &gear.device, NULL, &gear.context));
    ur_program_handle_t second = ur_executable("vector_add");
    cr_assert_eq(ze_cpu.get_count("compile:spirv"), before);
    UR_OK(urProgramRelease(second));
    UR_OK(urContextRelease(gear.context));
    gear.context = context;
    UR_OK(urProgramRelease(program));
}

Test(program, variables_are_written_read_and_found)
{
    ur_program_handle_t program = ur_executable("exporter");
    int32_t value = 0;
    void *address;
    size_t size;
    UR_OK(urProgramGetGlobalVariablePointer(gear.device, program, "offset", &size, &address));
    cr_assert_eq(size, sizeof(value));
    UR_OK(urEnqueueDeviceGlobalVariableRead(gear.queue, program, "offset", true, sizeof(value), 0,
                                            &value, 0, NULL, NULL));
    cr_assert_eq(value, 100);
    value = 0x01020304;
    UR_OK(urEnqueueDeviceGlobalVariableWrite(gear.queue, program, "offset", false, sizeof(value), 0,
                                             &value, 0, NULL, NULL));
    const unsigned char middle[2] = {0xaa, 0xbb};
    UR_OK(urEnqueueDeviceGlobalVariableWrite(gear.queue, program, "offset", true, 2, 1, middle, 0,
                                             NULL, NULL));
    UR_OK(urEnqueueUSMMemcpy(gear.queue, true, &value, address, sizeof(value), 0, NULL, NULL));
    cr_assert_eq(value, 0x01bbaa04);
    // A kernel's writes are seen, too.
    ur_kernel_handle_t set;
    const int32_t seventeen = 17;
    const ur_exp_kernel_arg_properties_t argument = UR_VALUE(0, seventeen);
    UR_OK(urKernelCreate(program, "set_offset", &set));
    UR_OK(ur_launch(gear.queue, set, 1, 1, &argument, 0, NULL, NULL));
    UR_OK(urEnqueueDeviceGlobalVariableRead(gear.queue, program, "offset", true, sizeof(value), 0,
                                            &value, 0, NULL, NULL));
    cr_assert_eq(value, 17);
    UR_OK(urKernelRelease(set));
    UR_OK(urProgramRelease(program));
}

Test(program, native_handles_go_both_ways)
{
    ur_program_handle_t program = ur_executable("twenty_kernels");
    ur_native_handle_t native;
    UR_OK(urProgramGetNativeHandle(program, &native));
    const ur_program_native_properties_t keep = {
        .stype = UR_STRUCTURE_TYPE_PROGRAM_NATIVE_PROPERTIES, .isNativeHandleOwned = false};
    ur_program_handle_t around;
    ur_native_handle_t again;
    UR_OK(urProgramCreateWithNativeHandle(native, gear.context, &keep, &around));
    UR_OK(urProgramGetNativeHandle(around, &again));
    cr_assert_eq(again, native);
    cr_assert_eq(binary_type(around, gear.device), UR_PROGRAM_BINARY_TYPE_EXECUTABLE);
    cr_assert_eq(run(around, gear.device, "add_9", 1), 10);
    UR_OK(urProgramRelease(around));
    cr_assert_eq(run(program, gear.device, "add_9", 2), 11);
    UR_OK(urProgramRelease(program));
}
