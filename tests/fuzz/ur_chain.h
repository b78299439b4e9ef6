// SPDX-License-Identifier: MIT
#ifndef ZEPI_TESTS_FUZZ_UR_CHAIN_H
#define ZEPI_TESTS_FUZZ_UR_CHAIN_H

#include "ur/ur.h"

// A chain of properties and descriptions that the bytes of an input describe: for each structure
// its kind, and bytes for the members behind the link. Each lies in a block of just the size that
// its type has. Pointers in it are NULL, and file descriptors none: behind those, a host's mistakes
// are its own.
ur_base_properties_t *ur_chain_read(const uint8_t *bytes, size_t size_bytes); // owned; may be NULL
void ur_chain_free(ur_base_properties_t *chain);

#endif
