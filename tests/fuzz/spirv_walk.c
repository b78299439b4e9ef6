// SPDX-License-Identifier: MIT
#include "module/spirv.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
    struct zepi_spirv spirv;
    char message[256];
    if (zepi_spirv_init(&spirv, bytes, size_bytes, message, sizeof(message)) == ZEPI_SPIRV_OK)
        zepi_spirv_finish(&spirv);
    return 0;
}
