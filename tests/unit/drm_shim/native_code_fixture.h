// SPDX-License-Identifier: MIT
#ifndef ZEPI_TESTS_UNIT_DRM_SHIM_NATIVE_CODE_FIXTURE_H
#define ZEPI_TESTS_UNIT_DRM_SHIM_NATIVE_CODE_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

// An ELF file of one kernel "scale" as Intel's compiler writes it: 64 bytes of code, of which the
// relocation patches 16 to 23, with the place of implicit arguments; stack calls; a variable
// "total" of 4 bytes at 8; .ze_info and .spv.
#define FIXTURE_CODE_BYTES 64
#define FIXTURE_PATCHED_AT 16

// Owned by the caller.
uint8_t *native_code_fixture(size_t *out_size_bytes);

#endif
