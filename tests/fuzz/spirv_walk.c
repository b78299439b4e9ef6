// SPDX-License-Identifier: MIT
#include "fuzz.h"
#include "spirv/spirv.h"

static uint32_t word_at(const uint8_t *bytes, size_t at)
{
    uint32_t word;
    memcpy(&word, bytes + at * sizeof(word), sizeof(word));
    return word;
}

// Each number of a module that was taken has the words that its type demands, wherever the type is
// declared.
static void require_whole_numbers(const uint8_t *bytes, size_t size_bytes)
{
    enum { TypeInt = 21, TypeFloat = 22, Constant = 43, SpecConstant = 50 };
    const size_t end = size_bytes / sizeof(uint32_t);
    uint32_t *words_of_type = calloc(word_at(bytes, 3), sizeof(*words_of_type)); // by id
    fuzz_require(words_of_type != NULL);
    for (size_t at = 5; at < end; at += word_at(bytes, at) >> 16) {
        const uint32_t opcode = word_at(bytes, at) & 0xffff;
        if (opcode == TypeInt || opcode == TypeFloat)
            words_of_type[word_at(bytes, at + 1)] = (word_at(bytes, at + 2) + UINT64_C(31)) / 32;
    }
    for (size_t at = 5; at < end; at += word_at(bytes, at) >> 16) {
        const uint32_t opcode = word_at(bytes, at) & 0xffff;
        if (opcode != Constant && opcode != SpecConstant)
            continue;
        const uint32_t words = words_of_type[word_at(bytes, at + 1)];
        fuzz_require(words == 0 || word_at(bytes, at) >> 16 == 3 + words);
    }
    free(words_of_type);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
    struct zepi_spirv spirv;
    char message[256];
    if (zepi_spirv_init(&spirv, bytes, size_bytes, message, sizeof(message)) != ZEPI_SPIRV_OK) {
        fuzz_require(message[0] != '\0' && !spirv.names && !spirv.kernels);
        return 0;
    }
    require_whole_numbers(bytes, size_bytes);
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
