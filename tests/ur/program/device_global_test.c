// SPDX-License-Identifier: MIT
// Variables of programs (SYCL's device globals): each program has its own, even if other programs
// are made of the same code.
#include "ur_fixture.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(device_global, .init = ur_set_up, .fini = ur_tear_down);

// The output of the kernels of device_global.cl: the sum and the number of calls.
struct seen {
    int total;
    int calls;
};

static struct seen run(ur_program_handle_t program, const char *name, int which)
{
    ur_kernel_handle_t kernel;
    struct seen *out = ur_shared(sizeof(*out));
    const ur_exp_kernel_arg_properties_t step[] = {UR_VALUE(0, which), UR_POINTER(1, out)};
    const ur_exp_kernel_arg_properties_t look[] = {UR_POINTER(0, out)};
    UR_OK(urKernelCreate(program, name, &kernel));
    const bool adds = strcmp(name, "add_step") == 0;
    UR_OK(ur_launch(gear.queue, kernel, 1, adds ? 2 : 1, adds ? step : look, 0, NULL, NULL));
    UR_OK(urQueueFinish(gear.queue));
    const struct seen seen = *out;
    UR_OK(urKernelRelease(kernel));
    ur_free(out);
    return seen;
}

static void expect(struct seen seen, int total, int calls)
{
    cr_assert_eq(seen.total, total, "the total is %d, expected %d", seen.total, total);
    cr_assert_eq(seen.calls, calls, "%d calls, expected %d", seen.calls, calls);
}

// Two programs that should know nothing of each other; both are released.
static void check_apart(ur_program_handle_t first, ur_program_handle_t second)
{
    void *addresses[2];
    size_t size;
    int value = 7;
    expect(run(first, "add_step", 0), 101, 1);
    expect(run(first, "add_step", 1), 111, 2);
    expect(run(second, "look", 0), 100, 0);
    expect(run(second, "add_step", 1), 110, 1);
    expect(run(first, "look", 0), 111, 2);
    // By name, from the host.
    UR_OK(urProgramGetGlobalVariablePointer(gear.device, first, "total", &size, &addresses[0]));
    UR_OK(urProgramGetGlobalVariablePointer(gear.device, second, "total", &size, &addresses[1]));
    cr_assert_eq(size, sizeof(int));
    cr_assert_neq(addresses[0], addresses[1]);
    UR_OK(urEnqueueDeviceGlobalVariableWrite(gear.queue, first, "total", true, sizeof(value), 0,
                                             &value, 0, NULL, NULL));
    expect(run(first, "look", 0), 7, 2);
    expect(run(second, "look", 0), 110, 1);
    UR_OK(urEnqueueDeviceGlobalVariableRead(gear.queue, second, "total", true, sizeof(value), 0,
                                            &value, 0, NULL, NULL));
    cr_assert_eq(value, 110);
    UR_OK(urProgramRelease(first));
    expect(run(second, "look", 0), 110, 1);
    UR_OK(urProgramRelease(second));
}

Test(device_global, of_programs_from_the_same_spirv_are_apart)
{
    ur_program_handle_t first = ur_executable("device_global");
    const uint64_t compiled = ze_cpu.get_count("compile:spirv");
    check_apart(first, ur_executable("device_global"));
    // The native code is one.
    cr_assert_eq(ze_cpu.get_count("compile:spirv"), compiled);
}

Test(device_global, begin_with_their_initial_values_in_a_later_program)
{
    for (int i = 0; i < 3; i++) {
        ur_program_handle_t program = ur_executable("device_global");
        expect(run(program, "add_step", 1), 110, 1);
        UR_OK(urProgramRelease(program));
    }
}

Test(device_global, begin_anew_when_a_program_is_built_again)
{
    ur_program_handle_t program = ur_executable("device_global");
    expect(run(program, "add_step", 1), 110, 1);
    UR_OK(urProgramBuild(gear.context, program, NULL));
    expect(run(program, "look", 0), 100, 0);
    UR_OK(urProgramRelease(program));
}

static ur_program_handle_t compile_and_link(void)
{
    ur_program_handle_t object = ur_input("device_global"), program;
    UR_OK(urProgramCompile(gear.context, object, NULL));
    UR_OK(urProgramLink(gear.context, 1, &object, NULL, &program));
    UR_OK(urProgramRelease(object));
    return program;
}

Test(device_global, of_linked_programs_are_apart)
{
    ur_program_handle_t first = compile_and_link();
    check_apart(first, compile_and_link());
}

static ur_program_handle_t from_binary(const uint8_t *binary, size_t size)
{
    ur_program_handle_t program;
    UR_OK(urProgramCreateWithBinary(gear.context, 1, &gear.device, &size, &binary, NULL, &program));
    UR_OK(urProgramBuild(gear.context, program, NULL));
    return program;
}

Test(device_global, of_programs_from_the_same_binary_are_apart)
{
    ur_program_handle_t program = ur_executable("device_global");
    size_t size;
    UR_OK(urProgramGetInfo(program, UR_PROGRAM_INFO_BINARY_SIZES, sizeof(size), &size, NULL));
    uint8_t *binary = malloc(size);
    UR_OK(urProgramGetInfo(program, UR_PROGRAM_INFO_BINARIES, sizeof(binary), &binary, NULL));
    UR_OK(urProgramRelease(program));
    ur_program_handle_t first = from_binary(binary, size);
    check_apart(first, from_binary(binary, size));
    free(binary);
}

// The device code of the program and its kernels goes with them.
Test(device_global, leave_nothing_in_the_caches)
{
    ur_program_handle_t program = ur_executable("device_global");
    expect(run(program, "look", 0), 100, 0);
    const uint64_t destroyed = ze_cpu.get_count("zeModuleDestroy");
    UR_OK(urProgramRelease(program));
    UR_OK(urQueueFinish(gear.queue));
    cr_assert_eq(ze_cpu.get_count("zeModuleDestroy"), destroyed + 1);
}

Test(device_global, that_are_not_there_leave_code_shared)
{
    ur_program_handle_t first = ur_executable("vector_add");
    const uint64_t created = ze_cpu.get_count("zeModuleCreate");
    ur_program_handle_t second = ur_executable("vector_add");
    cr_assert_eq(ze_cpu.get_count("zeModuleCreate"), created);
    UR_OK(urProgramRelease(first));
    UR_OK(urProgramRelease(second));
}

Test(device_global, are_refused_by_wrong_names_and_sizes)
{
    ur_program_handle_t program = ur_executable("device_global");
    int value = 0;
    void *address;
    size_t size;
    UR_FAILS(urProgramGetGlobalVariablePointer(gear.device, program, "nothing", &size, &address),
             UR_RESULT_ERROR_INVALID_VALUE);
    UR_FAILS(urEnqueueDeviceGlobalVariableRead(gear.queue, program, "total", true, sizeof(value), 1,
                                               &value, 0, NULL, NULL),
             UR_RESULT_ERROR_INVALID_VALUE);
    UR_OK(urProgramRelease(program));
}

// Each device has the variables of each program once.
Test(device_global_devices, are_each_devices_own, .fini = ur_tear_down)
{
    ur_set_up_devices(2);
    ur_program_handle_t program = ur_executable("device_global");
    int value = 5;
    UR_OK(urEnqueueDeviceGlobalVariableWrite(gear.queue, program, "total", true, sizeof(value), 0,
                                             &value, 0, NULL, NULL));
    ur_queue_handle_t second = ur_queue(gear.devices[1], 0);
    UR_OK(urEnqueueDeviceGlobalVariableRead(second, program, "total", true, sizeof(value), 0,
                                            &value, 0, NULL, NULL));
    cr_assert_eq(value, 100);
    UR_OK(urQueueRelease(second));
    UR_OK(urProgramRelease(program));
}
