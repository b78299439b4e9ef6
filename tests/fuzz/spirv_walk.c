// SPDX-License-Identifier: MIT
#include "spirv/spirv.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes);

static void require(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
    struct zepi_spirv spirv;
    char message[256];
    if (zepi_spirv_init(&spirv, bytes, size_bytes, message, sizeof(message)) != ZEPI_SPIRV_OK) {
        require(message[0] != '\0' && !spirv.storage && !spirv.kernels);
        return 0;
    }
    for (uint32_t i = 0; i < spirv.constant_count; i++) {
        const struct zepi_spirv_constant *constant = &spirv.constants[i];
        require(zepi_spirv_find_constant(&spirv, constant->id) == constant);
        require(constant->size_bytes >= 1 && constant->size_bytes <= 8);
    }
    for (uint32_t i = 0; i < spirv.kernel_count; i++) {
        const struct zepi_spirv_kernel *kernel = &spirv.kernels[i];
        require(zepi_spirv_find_kernel(&spirv, kernel->name) == kernel);
        for (uint32_t j = 0; j < kernel->argument_count; j++)
            require(kernel->arguments[j].kind <= ZEPI_SPIRV_ARGUMENT_OTHER);
    }
    for (uint32_t i = 0; i < spirv.symbol_count; i++)
        require(strlen(spirv.symbols[i].name) < size_bytes);
    zepi_spirv_finish(&spirv);
    return 0;
}
