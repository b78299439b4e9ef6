// SPDX-License-Identifier: MIT
#include "mended.h"

#include "spirv_copy.h"

#include <stdlib.h>

struct mending {
    const uint32_t *words;
    size_t count;
    bool *is_number;    // by the id of a type
    uint32_t uint_type; // of 32 bits; 0: there is none
    bool has_shuffles, has_intel_shuffles;
};

// The compiler has shuffles of numbers alone.
static bool may_move(const struct mending *mending, const uint32_t *words)
{
    const uint32_t operation = spirv_operation(words);
    return ((operation >= OP_GROUP_NON_UNIFORM_SHUFFLE &&
             operation <= OP_GROUP_NON_UNIFORM_SHUFFLE_DOWN) ||
            operation == OP_SUBGROUP_SHUFFLE_INTEL || operation == OP_SUBGROUP_SHUFFLE_XOR_INTEL) &&
           mending->uint_type != 0 && words[1] < mending->words[SPIRV_BOUND] &&
           mending->is_number[words[1]];
}

static void read_all(struct mending *mending)
{
    SPIRV_EACH(at, mending->words, mending->count)
    {
        const uint32_t *words = mending->words + at, operation = spirv_operation(words);
        if (operation == OP_CAPABILITY && words[1] == CAPABILITY_INTEL_SHUFFLE)
            mending->has_intel_shuffles = true;
        // A float with one operand more is of another encoding.
        if ((operation == OP_TYPE_INT || (operation == OP_TYPE_FLOAT && words[0] >> 16 == 3)) &&
            words[1] < mending->words[SPIRV_BOUND])
            mending->is_number[words[1]] = true;
        if (operation == OP_TYPE_INT && words[2] == 32 && words[3] == 0)
            mending->uint_type = words[1];
        mending->has_shuffles = mending->has_shuffles || may_move(mending, words);
    }
}

// Needed by the shuffles that are added: an extension comes behind the last capability.
static void write_extension(struct spirv_copy *copy)
{
    static const union {
        char text[20];
        uint32_t words[5];
    } name = {"SPV_INTEL_subgroups"};
    SPIRV_WRITE(copy, OP_CAPABILITY, CAPABILITY_INTEL_SHUFFLE);
    spirv_write_instruction(copy, OP_EXTENSION, name.words, 5);
}

static bool write_copy(const struct mending *mending, uint8_t **out_spirv, size_t *out_size_bytes)
{
    struct spirv_copy copy = {0};
    uint32_t bound = mending->words[SPIRV_BOUND], null_constant = 0;
    bool is_past_capabilities = false;
    spirv_write(&copy, mending->words, SPIRV_HEADER_WORDS);
    SPIRV_EACH(at, mending->words, mending->count)
    {
        const uint32_t *words = mending->words + at, operation = spirv_operation(words);
        if (operation != OP_CAPABILITY && !is_past_capabilities) {
            is_past_capabilities = true;
            if (!mending->has_intel_shuffles)
                write_extension(&copy);
        }
        if (operation == OP_FUNCTION && null_constant == 0) {
            null_constant = bound++;
            SPIRV_WRITE(&copy, OP_CONSTANT_NULL, mending->uint_type, null_constant);
        }
        if (!may_move(mending, words)) {
            spirv_write(&copy, words, spirv_length(words));
            continue;
        }
        const uint32_t moving = bound++;
        spirv_write_with(&copy, words, 2, moving);
        SPIRV_WRITE(&copy, OP_SUBGROUP_SHUFFLE_DOWN_INTEL, words[1], words[2], moving, moving,
                    null_constant);
    }
    return spirv_finish(&copy, bound, out_spirv, out_size_bytes);
}

bool cpu_mended_create(const void *spirv, size_t spirv_bytes, uint8_t **out_spirv,
                       size_t *out_size_bytes)
{
    struct mending mending = {.words = spirv, .count = spirv_bytes / sizeof(uint32_t)};
    *out_spirv = NULL;
    mending.is_number = calloc((size_t)mending.words[SPIRV_BOUND] + 1, sizeof(bool));
    if (mending.is_number == NULL)
        return false;
    read_all(&mending);
    const bool is_fine = !mending.has_shuffles || write_copy(&mending, out_spirv, out_size_bytes);
    free(mending.is_number);
    return is_fine;
}
