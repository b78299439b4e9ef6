// SPDX-License-Identifier: MIT
#include "program/build/build_options.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
    char *text = calloc(1, size_bytes + 1);
    char *once = calloc(1, size_bytes + 1);
    char *twice = calloc(1, size_bytes + 1);
    memcpy(text, bytes, size_bytes);
    // Canonical text stays as it is.
    if (zepi_build_options_normalize(text, once) != SIZE_MAX &&
        (zepi_build_options_normalize(once, twice) == SIZE_MAX || strcmp(once, twice) != 0))
        abort();
    free(text);
    free(once);
    free(twice);
    return 0;
}
