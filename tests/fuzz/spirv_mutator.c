// SPDX-License-Identifier: MIT
//
// Changes of SPIR-V that leave the instructions whole: bytes alone would have to be hit by several
// changes at once before an instruction has another place or another length. Beside these, the
// changes of bytes are made, too.
#include "fuzz.h"

enum { HEADER_WORDS = 5, UNKNOWN_OPCODE = 60000 };

struct module {
    uint32_t *words;
    size_t count;
    size_t capacity;
    uint32_t state; // of the random numbers
};

static size_t random_below(struct module *module, size_t limit)
{
    module->state = module->state * 1664525 + 1013904223;
    return (module->state >> 8) % limit;
}

// Words of the instruction at `at`, also of one that is cut off.
static size_t length_at(const struct module *module, size_t at)
{
    const size_t length = module->words[at] >> 16;
    const size_t left = module->count - at;
    return length == 0 || length > left ? left : length;
}

// Where a random instruction begins, or the end of the module if it has none.
static size_t random_instruction(struct module *module)
{
    size_t count = 0;
    for (size_t at = HEADER_WORDS; at < module->count; at += length_at(module, at))
        count++;
    size_t at = HEADER_WORDS;
    for (size_t skip = count > 0 ? random_below(module, count) : 0; skip > 0; skip--)
        at += length_at(module, at);
    return at;
}

static void insert(struct module *module, size_t at, const uint32_t *words, size_t count)
{
    if (count > module->capacity - module->count)
        return;
    memmove(module->words + at + count, module->words + at, (module->count - at) * sizeof(*words));
    memcpy(module->words + at, words, count * sizeof(*words));
    module->count += count;
}

static void erase(struct module *module, size_t at, size_t count)
{
    memmove(module->words + at, module->words + at + count,
            (module->count - at - count) * sizeof(*module->words));
    module->count -= count;
}

// A word that stands somewhere in the module: mostly one that means something.
static uint32_t random_word(struct module *module)
{
    return module->words[random_below(module, module->count)];
}

static void change_instruction(struct module *module)
{
    const size_t at = random_instruction(module);
    if (at == module->count)
        return;
    const size_t length = length_at(module, at);
    const uint32_t unknown[] = {2 << 16 | UNKNOWN_OPCODE, random_word(module)};
    const uint32_t operand = random_word(module);
    uint32_t copy[64];
    switch (random_below(module, 6)) {
    case 0:
        insert(module, at, unknown, sizeof(unknown) / sizeof(*unknown));
        break;
    case 1: // one operand less
        erase(module, at + length - 1, 1);
        if (length > 1)
            module->words[at] -= 1 << 16;
        break;
    case 2: // one more
        if (module->count < module->capacity && length < UINT16_MAX)
            module->words[at] += 1 << 16;
        insert(module, at + length, &operand, 1);
        break;
    case 3:
        module->words[at + random_below(module, length)] = operand;
        break;
    default: // to another place, or there, too
        if (length > sizeof(copy) / sizeof(*copy))
            break;
        memcpy(copy, module->words + at, length * sizeof(*copy));
        if (random_below(module, 4) > 0)
            erase(module, at, length);
        insert(module, random_instruction(module), copy, length);
        break;
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size_bytes, size_t max_size_bytes,
                               unsigned seed)
{
    struct module module = {.count = size_bytes / sizeof(uint32_t),
                            .capacity = max_size_bytes / sizeof(uint32_t),
                            .state = seed};
    if (module.count <= HEADER_WORDS || random_below(&module, 4) == 0)
        return LLVMFuzzerMutate(bytes, size_bytes, max_size_bytes);
    module.words = malloc(module.capacity * sizeof(*module.words));
    if (!module.words)
        return size_bytes;
    memcpy(module.words, bytes, module.count * sizeof(*module.words));
    for (size_t left = random_below(&module, 4) + 1; left > 0; left--)
        change_instruction(&module);
    memcpy(bytes, module.words, module.count * sizeof(*module.words));
    free(module.words);
    return module.count * sizeof(uint32_t);
}
