// SPDX-License-Identifier: MIT
#include "fuzz.h"
#include "spirv/spirv.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
    struct zepi_spirv spirv;
    char message[256];
    if (zepi_spirv_init(&spirv, bytes, size_bytes, message, sizeof(message)) != ZEPI_SPIRV_OK) {
        fuzz_require(message[0] != '\0' && !spirv.storage && !spirv.kernels);
        return 0;
    }
    for (uint32_t i = 0; i < spirv.constant_count; i++) {
        const struct zepi_spirv_constant *constant = &spirv.constants[i];
        fuzz_require(zepi_spirv_find_constant(&spirv, constant->id) == constant);
        fuzz_require(constant->size_bytes >= 1 && constant->size_bytes <= 8);
    }
    for (uint32_t i = 0; i < spirv.kernel_count; i++) {
        const struct zepi_spirv_kernel *kernel = &spirv.kernels[i];
        fuzz_require(zepi_spirv_find_kernel(&spirv, kernel->name) == kernel);
        for (uint32_t j = 0; j < kernel->argument_count; j++)
            fuzz_require(kernel->arguments[j].kind <= ZEPI_SPIRV_ARGUMENT_OTHER);
    }
    for (uint32_t i = 0; i < spirv.symbol_count; i++)
        fuzz_require(strlen(spirv.symbols[i].name) < size_bytes);
    zepi_spirv_finish(&spirv);
    return 0;
}
