// SPDX-License-Identifier: MIT
#include "program/native/container.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

enum { AT_CHECKSUM = 16, AT_MEMBERS = 32 };

// Native code of a module that is made of several. The checksum is made right, so that the fields
// behind it are read.
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
    const char *reason = NULL;
    uint8_t *copy = malloc(size_bytes);
    memcpy(copy, bytes, size_bytes);
    fuzz_seal(copy, size_bytes, AT_CHECKSUM, AT_MEMBERS);
    const uint32_t count =
        zepi_container_is(copy, size_bytes) ? zepi_container_check(copy, size_bytes, &reason) : 0;
    if (count > 0) {
        struct zepi_container_member *members = calloc(count, sizeof(*members));
        uint8_t *again = malloc(size_bytes);
        zepi_container_unpack(copy, members);
        // The members are all that there is.
        fuzz_require(zepi_container_size(count, members) == size_bytes);
        zepi_container_pack(count, members, again);
        fuzz_require(memcmp(again, copy, size_bytes) == 0);
        free(again);
        free(members);
    } else if (zepi_container_is(copy, size_bytes)) {
        fuzz_require(reason != NULL);
    }
    free(copy);
    return 0;
}
