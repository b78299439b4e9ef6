// SPDX-License-Identifier: MIT
#include "program/native/container.h"
#include "ur_gear.h"

enum { AT_CHECKSUM = 16, AT_MEMBERS = 32 };

// Bytes that a host gives as a program's: native code or several pieces of it, then SPIR-V.
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
    const struct ur_gear *gear = ur_gear_get(UR_GEAR_ON_NULL_DRIVER);
    uint8_t *copy = malloc(size_bytes);
    const uint8_t *binary = copy;
    ur_device_handle_t device = gear->device;
    ur_program_handle_t program = NULL;
    size_t size;
    memcpy(copy, bytes, size_bytes);
    if (zepi_container_is(copy, size_bytes))
        fuzz_seal(copy, size_bytes, AT_CHECKSUM, AT_MEMBERS);
    if (zepi_urProgramCreateWithBinary(gear->context, 1, &device, &size_bytes, &binary, NULL,
                                       &program) == UR_RESULT_SUCCESS) {
        zepi_urProgramBuild(gear->context, program, NULL);
        fuzz_require(zepi_urProgramGetInfo(program, UR_PROGRAM_INFO_BINARY_SIZES, sizeof(size),
                                           &size, NULL) == UR_RESULT_SUCCESS);
        fuzz_require(zepi_urProgramRelease(program) == UR_RESULT_SUCCESS);
    }
    if (zepi_urProgramCreateWithIL(gear->context, copy, size_bytes, NULL, &program) ==
        UR_RESULT_SUCCESS) {
        zepi_urProgramCompile(gear->context, program, NULL);
        fuzz_require(zepi_urProgramRelease(program) == UR_RESULT_SUCCESS);
    }
    free(copy);
    return 0;
}
