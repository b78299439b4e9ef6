// SPDX-License-Identifier: MIT
// Refusals of programs and kernels.
#include "checks.h"
#include "test_env.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(checks_program, .init = checks_set_up, .fini = checks_tear_down);

#define WRONG_CONTEXT UR_RESULT_ERROR_INVALID_CONTEXT
#define WRONG_DEVICE UR_RESULT_ERROR_INVALID_DEVICE
#define WRONG UR_RESULT_ERROR_INVALID_PROGRAM
#define NULL_POINTER UR_RESULT_ERROR_INVALID_NULL_POINTER
#define SIZE UR_RESULT_ERROR_INVALID_SIZE

Test(checks_program, made_of_spirv)
{
    struct test_bytes spirv = test_env_read_spirv("vector_add");
    const void *const bytes = spirv.data;
    const size_t size = spirv.size_bytes;
    ur_program_handle_t *const out = OUT(ur_program_handle_t);
    ur_program_properties_t properties = {.stype = UR_STRUCTURE_TYPE_PROGRAM_PROPERTIES,
                                          .count = 1};
    const ur_program_metadata_t metadata = {.pName = "name"};
    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
                   urProgramCreateWithIL(handle, bytes, size, NULL, out));
    REFUSES(NULL_POINTER, urProgramCreateWithIL(gear.context, NULL, size, NULL, out));
    REFUSES(NULL_POINTER, urProgramCreateWithIL(gear.context, bytes, size, NULL, NULL));
    REFUSES(NULL_POINTER, urProgramCreateWithIL(gear.context, bytes, size, &properties, out));
    properties = (ur_program_properties_t){.stype = UR_STRUCTURE_TYPE_PROGRAM_PROPERTIES,
                                           .pMetadatas = &metadata};
    REFUSES(SIZE, urProgramCreateWithIL(gear.context, bytes, size, &properties, out));
    REFUSES(SIZE, urProgramCreateWithIL(gear.context, bytes, 0, NULL, out));
    REFUSES(UR_RESULT_ERROR_INVALID_BINARY,
            urProgramCreateWithIL(gear.context, bytes, size - 4, NULL, out));
    REFUSES(UR_RESULT_ERROR_INVALID_BINARY,
            urProgramCreateWithIL(gear.context, "no SPIR-V at all", 16, NULL, out));
    free(spirv.data);
}

Test(checks_program, made_of_binaries)
{
    size_t sizes[2];
    UR_OK(urProgramGetInfo(own.program, UR_PROGRAM_INFO_BINARY_SIZES, sizeof(sizes), sizes, NULL));
    uint8_t *binary = malloc(sizes[0]);
    uint8_t *addresses[2] = {binary, NULL};
    UR_OK(urProgramGetInfo(own.program, UR_PROGRAM_INFO_BINARIES, sizeof(addresses), addresses,
                           NULL));
    const uint8_t *const_binary = binary;
    const uint8_t *nothing = NULL;
    const size_t zero = 0;
    ur_program_properties_t properties = {.stype = UR_STRUCTURE_TYPE_PROGRAM_PROPERTIES,
                                          .count = 1};
    ur_program_handle_t *const out = OUT(ur_program_handle_t);
    REFUSES_HANDLE(
        CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
        urProgramCreateWithBinary(handle, 1, &gear.device, sizes, &const_binary, NULL, out));
    REFUSES(NULL_POINTER,
            urProgramCreateWithBinary(gear.context, 1, NULL, sizes, &const_binary, NULL, out));
    REFUSES(NULL_POINTER, urProgramCreateWithBinary(gear.context, 1, &gear.device, NULL,
                                                    &const_binary, NULL, out));
    REFUSES(NULL_POINTER,
            urProgramCreateWithBinary(gear.context, 1, &gear.device, sizes, NULL, NULL, out));
    REFUSES(UR_RESULT_ERROR_INVALID_VALUE,
            urProgramCreateWithBinary(gear.context, 1, &gear.device, sizes, &nothing, NULL, out));
    const uint8_t *const some[] = {const_binary, NULL};
    REFUSES(UR_RESULT_ERROR_INVALID_VALUE,
            urProgramCreateWithBinary(gear.context, 2, gear.devices, sizes, (const uint8_t **)some,
                                      NULL, out));
    REFUSES(NULL_POINTER, urProgramCreateWithBinary(gear.context, 1, &gear.device, sizes,
                                                    &const_binary, NULL, NULL));
    REFUSES(NULL_POINTER, urProgramCreateWithBinary(gear.context, 1, &gear.device, sizes,
                                                    &const_binary, &properties, out));
    REFUSES(SIZE, urProgramCreateWithBinary(gear.context, 0, &gear.device, sizes, &const_binary,
                                            NULL, out));
    REFUSES(SIZE, urProgramCreateWithBinary(gear.context, 1, &gear.device, (size_t *)&zero,
                                            &const_binary, NULL, out));
    REFUSES(WRONG_DEVICE, urProgramCreateWithBinary(other.context, 1, &gear.device, sizes,
                                                    &const_binary, NULL, out));
    ur_device_handle_t device;
    REFUSES_HANDLE(DEVICE, ur_device_handle_t, WRONG_DEVICE,
                   (device = handle, urProgramCreateWithBinary(gear.context, 1, &device, sizes,
                                                               &const_binary, NULL, out)));
    // Native code needs no compiler.
    ur_program_handle_t program;
    UR_OK(urProgramCreateWithBinary(gear.context, 1, &gear.device, sizes, &const_binary, NULL,
                                    &program));
    REFUSES(UR_RESULT_ERROR_INVALID_OPERATION, urProgramCompile(gear.context, program, NULL));
    REFUSES(UR_RESULT_ERROR_INVALID_OPERATION,
            urProgramCompileExp(program, 1, &gear.device, 0, NULL));
    UR_OK(urProgramRelease(program));
    // The driver alone knows its code.
    memset(binary, 0x5a, sizes[0]);
    REFUSES(
        UR_RESULT_ERROR_INVALID_BINARY,
        urProgramCreateWithBinary(gear.context, 1, &gear.device, sizes, &const_binary, NULL, out));
    free(binary);
}

Test(checks_program, that_are_built)
{
    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
                   urProgramBuild(handle, own.input, NULL));
    REFUSES_HANDLE(PROGRAM, ur_program_handle_t, WRONG, urProgramBuild(gear.context, handle, NULL));
    REFUSES(WRONG_CONTEXT, urProgramBuild(gear.context, other.input, NULL));
    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
                   urProgramCompile(handle, own.input, NULL));
    REFUSES_HANDLE(PROGRAM, ur_program_handle_t, WRONG,
                   urProgramCompile(gear.context, handle, NULL));
    REFUSES(WRONG_CONTEXT, urProgramCompile(gear.context, other.input, NULL));
    REFUSES_HANDLE(PROGRAM, ur_program_handle_t, WRONG,
                   urProgramBuildExp(handle, 1, &gear.device, 0, NULL));
    REFUSES(NULL_POINTER, urProgramBuildExp(own.input, 1, NULL, 0, NULL));
    REFUSES_FLAGS(UR_EXP_PROGRAM_FLAGS_MASK,
                  urProgramBuildExp(own.input, 1, &gear.device, flags, NULL));
    REFUSES(SIZE, urProgramBuildExp(own.input, 0, &gear.device, 0, NULL));
    REFUSES(WRONG_DEVICE, urProgramBuildExp(other.input, 1, &gear.device, 0, NULL));
    REFUSES_HANDLE(PROGRAM, ur_program_handle_t, WRONG,
                   urProgramCompileExp(handle, 1, &gear.device, 0, NULL));
    REFUSES(NULL_POINTER, urProgramCompileExp(own.input, 1, NULL, 0, NULL));
    REFUSES_FLAGS(UR_EXP_PROGRAM_FLAGS_MASK,
                  urProgramCompileExp(own.input, 1, &gear.device, flags, NULL));
    ur_device_handle_t device;
    REFUSES_HANDLE(DEVICE, ur_device_handle_t, WRONG_DEVICE,
                   (device = handle, urProgramBuildExp(own.input, 1, &device, 0, NULL)));
    REFUSES_HANDLE(DEVICE, ur_device_handle_t, WRONG_DEVICE,
                   (device = handle, urProgramCompileExp(own.input, 1, &device, 0, NULL)));
}

Test(checks_program, that_are_linked)
{
    ur_program_handle_t object = ur_input("exporter");
    ur_program_handle_t program;
    UR_OK(urProgramCompile(gear.context, object, NULL));
    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
                   urProgramLink(handle, 1, &object, NULL, &program));
    REFUSES(NULL_POINTER, urProgramLink(gear.context, 1, NULL, NULL, &program));
    REFUSES(NULL_POINTER, urProgramLink(gear.context, 1, &object, NULL, NULL));
    REFUSES(SIZE, urProgramLink(gear.context, 0, &object, NULL, &program));
    REFUSES_HANDLE(PROGRAM, ur_program_handle_t, WRONG,
                   urProgramLink(gear.context, 1, &handle, NULL, &program));
    REFUSES(WRONG, urProgramLink(gear.context, 1, &other.program, NULL, &program));
    REFUSES(UR_RESULT_ERROR_INVALID_OPERATION,
            urProgramLink(gear.context, 1, &own.input, NULL, &program));
    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
                   urProgramLinkExp(handle, 1, &gear.device, 0, 1, &object, NULL, &program));
    REFUSES(NULL_POINTER, urProgramLinkExp(gear.context, 1, NULL, 0, 1, &object, NULL, &program));
    REFUSES(NULL_POINTER,
            urProgramLinkExp(gear.context, 1, &gear.device, 0, 1, NULL, NULL, &program));
    REFUSES(NULL_POINTER,
            urProgramLinkExp(gear.context, 1, &gear.device, 0, 1, &object, NULL, NULL));
    REFUSES(SIZE, urProgramLinkExp(gear.context, 1, &gear.device, 0, 0, &object, NULL, &program));
    REFUSES_FLAGS(UR_EXP_PROGRAM_FLAGS_MASK, urProgramLinkExp(gear.context, 1, &gear.device, flags,
                                                              1, &object, NULL, &program));
    REFUSES_HANDLE(PROGRAM, ur_program_handle_t, WRONG,
                   urProgramLinkExp(gear.context, 1, &gear.device, 0, 1, &handle, NULL, &program));
    ur_device_handle_t device;
    REFUSES_HANDLE(DEVICE, ur_device_handle_t, WRONG_DEVICE,
                   (device = handle,
                    urProgramLinkExp(gear.context, 1, &device, 0, 1, &object, NULL, &program)));
    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
                   urProgramDynamicLinkExp(handle, 1, &object));
    REFUSES(NULL_POINTER, urProgramDynamicLinkExp(gear.context, 1, NULL));
    REFUSES(SIZE, urProgramDynamicLinkExp(gear.context, 0, &object));
    REFUSES_HANDLE(PROGRAM, ur_program_handle_t, WRONG,
                   urProgramDynamicLinkExp(gear.context, 1, &handle));
    UR_OK(urProgramRelease(object));
}

Test(checks_program, that_are_asked_about)
{
    REFUSES_HANDLE(PROGRAM, ur_program_handle_t, WRONG, urProgramRetain(handle));
    REFUSES_HANDLE(PROGRAM, ur_program_handle_t, WRONG, urProgramRelease(handle));
    REFUSES_HANDLE(PROGRAM, ur_program_handle_t, WRONG,
                   urProgramGetInfo(handle, UR_PROGRAM_INFO_CONTEXT, 8, OUT(void), NULL));
    REFUSES_INFO(ur_program_info_t, UR_PROGRAM_INFO_CONTEXT, UR_PROGRAM_INFO_KERNEL_NAMES,
                 urProgramGetInfo(own.program, query, size, value, out_size));
    REFUSES(UR_RESULT_ERROR_INVALID_PROGRAM_EXECUTABLE,
            urProgramGetInfo(own.input, UR_PROGRAM_INFO_NUM_KERNELS, 8, OUT(void), NULL));
    REFUSES_HANDLE(PROGRAM, ur_program_handle_t, WRONG,
                   urProgramGetBuildInfo(handle, gear.device, UR_PROGRAM_BUILD_INFO_STATUS, 8,
                                         OUT(void), NULL));
    REFUSES_HANDLE(DEVICE, ur_device_handle_t, WRONG_DEVICE,
                   urProgramGetBuildInfo(own.program, handle, UR_PROGRAM_BUILD_INFO_STATUS, 8,
                                         OUT(void), NULL));
    REFUSES(WRONG_DEVICE, urProgramGetBuildInfo(other.program, gear.device,
                                                UR_PROGRAM_BUILD_INFO_STATUS, 8, OUT(void), NULL));
    REFUSES_INFO(ur_program_build_info_t, UR_PROGRAM_BUILD_INFO_STATUS,
                 UR_PROGRAM_BUILD_INFO_BINARY_TYPE,
                 urProgramGetBuildInfo(own.program, gear.device, query, size, value, out_size));
}

Test(checks_program, and_their_constants)
{
    ur_program_handle_t program = ur_input("scaled_copy");
    int32_t value = 3;
    ur_specialization_constant_info_t constants[2] = {{7, sizeof(value), &value},
                                                      {7, sizeof(value), &value}};
    REFUSES_HANDLE(PROGRAM, ur_program_handle_t, WRONG,
                   urProgramSetSpecializationConstants(handle, 1, constants));
    REFUSES(NULL_POINTER, urProgramSetSpecializationConstants(program, 1, NULL));
    REFUSES(SIZE, urProgramSetSpecializationConstants(program, 0, constants));
    constants[1].size = 8;
    REFUSES(UR_RESULT_ERROR_INVALID_VALUE,
            urProgramSetSpecializationConstants(program, 2, constants));
    constants[1] = (ur_specialization_constant_info_t){7, sizeof(value), NULL};
    REFUSES(UR_RESULT_ERROR_INVALID_VALUE,
            urProgramSetSpecializationConstants(program, 2, constants));
    constants[1] = (ur_specialization_constant_info_t){99, sizeof(value), &value};
    REFUSES(UR_RESULT_ERROR_INVALID_SPEC_ID,
            urProgramSetSpecializationConstants(program, 2, constants));
    UR_OK(urProgramRelease(program));
}

Test(checks_program, and_their_symbols)
{
    ur_program_handle_t program = ur_executable("exporter");
    size_t *const size = OUT(size_t) + 16;
    void **const out = OUT(void *);
    REFUSES_HANDLE(DEVICE, ur_device_handle_t, WRONG_DEVICE,
                   urProgramGetGlobalVariablePointer(handle, program, "offset", size, out));
    REFUSES_HANDLE(PROGRAM, ur_program_handle_t, WRONG,
                   urProgramGetGlobalVariablePointer(gear.device, handle, "offset", size, out));
    REFUSES(WRONG_DEVICE,
            urProgramGetGlobalVariablePointer(gear.device, other.program, "offset", size, out));
    REFUSES(NULL_POINTER, urProgramGetGlobalVariablePointer(gear.device, program, NULL, size, out));
    REFUSES(NULL_POINTER,
            urProgramGetGlobalVariablePointer(gear.device, program, "offset", size, NULL));
    REFUSES(UR_RESULT_ERROR_INVALID_VALUE,
            urProgramGetGlobalVariablePointer(gear.device, program, "nothing", size, out));
    REFUSES(UR_RESULT_ERROR_INVALID_PROGRAM_EXECUTABLE,
            urProgramGetGlobalVariablePointer(gear.device, own.input, "offset", size, out));
    REFUSES_HANDLE(DEVICE, ur_device_handle_t, WRONG_DEVICE,
                   urProgramGetFunctionPointer(handle, program, "triple", out));
    REFUSES_HANDLE(PROGRAM, ur_program_handle_t, WRONG,
                   urProgramGetFunctionPointer(gear.device, handle, "triple", out));
    REFUSES(WRONG_DEVICE,
            urProgramGetFunctionPointer(gear.device, other.program, "vector_add", out));
    REFUSES(NULL_POINTER, urProgramGetFunctionPointer(gear.device, program, NULL, out));
    REFUSES(NULL_POINTER, urProgramGetFunctionPointer(gear.device, program, "triple", NULL));
    REFUSES(UR_RESULT_ERROR_INVALID_KERNEL_NAME,
            urProgramGetFunctionPointer(gear.device, program, "nothing", out));
    // The same where the driver has no function pointers at all.
    static const char *const names[] = {"nothing", "triple"};
    for (int i = 0; i < 2; i++) {
        ze_cpu.set_fail("zeModuleGetFunctionPointer:1:0x78000003");
        REFUSES(i == 0 ? UR_RESULT_ERROR_INVALID_KERNEL_NAME
                       : UR_RESULT_ERROR_FUNCTION_ADDRESS_NOT_AVAILABLE,
                urProgramGetFunctionPointer(gear.device, program, names[i], out));
    }
    ze_cpu.set_fail(NULL);
    REFUSES(UR_RESULT_ERROR_INVALID_PROGRAM_EXECUTABLE,
            urProgramGetFunctionPointer(gear.device, own.input, "vector_add", out));
    UR_OK(urProgramRelease(program));
}

Test(checks_program, and_their_native_handles)
{
    ur_native_handle_t native;
    UR_OK(urProgramGetNativeHandle(other.program, &native));
    REFUSES_HANDLE(PROGRAM, ur_program_handle_t, WRONG,
                   urProgramGetNativeHandle(handle, OUT(ur_native_handle_t)));
    REFUSES(NULL_POINTER, urProgramGetNativeHandle(own.program, NULL));
    REFUSES(UR_RESULT_ERROR_INVALID_OPERATION,
            urProgramGetNativeHandle(own.input, OUT(ur_native_handle_t)));
    REFUSES_HANDLE(CONTEXT, ur_context_handle_t, WRONG_CONTEXT,
                   urProgramCreateWithNativeHandle(native, handle, NULL, OUT(ur_program_handle_t)));
    REFUSES(NULL_POINTER, urProgramCreateWithNativeHandle(native, other.context, NULL, NULL));
    REFUSES(UR_RESULT_ERROR_INVALID_VALUE,
            urProgramCreateWithNativeHandle(0, gear.context, NULL, OUT(ur_program_handle_t)));
}
