// SPDX-License-Identifier: MIT
#include "mended.h"

#include <stdlib.h>
#include <string.h>

#define HEADER_WORDS 5
#define CAPABILITY_WORDS 2
#define NULL_CONSTANT_WORDS 3
#define SHUFFLE_DOWN_WORDS 6

enum {
    OP_EXTENSION = 10,
    OP_CAPABILITY = 17,
    OP_TYPE_VOID = 19,
    OP_TYPE_INT = 21,
    OP_TYPE_FLOAT = 22,
    OP_CONSTANT_NULL = 46,
    OP_FUNCTION = 54,
    OP_GROUP_NON_UNIFORM_SHUFFLE = 345,
    OP_GROUP_NON_UNIFORM_SHUFFLE_DOWN = 348,
    OP_SUBGROUP_SHUFFLE_INTEL = 5571,
    OP_SUBGROUP_SHUFFLE_DOWN_INTEL = 5572,
    OP_SUBGROUP_SHUFFLE_XOR_INTEL = 5574,
    CAPABILITY_INTEL_SHUFFLE = 5568,
};

// Types, by their ids.
enum {
    TYPE_VOID = 1,
    TYPE_NUMBER = 2,
};

static const char intel_sub_groups[20] = "SPV_INTEL_subgroups"; // five words
#define EXTENSION_WORDS (1 + sizeof(intel_sub_groups) / sizeof(uint32_t))

struct mending {
    const uint32_t *words;
    size_t count;
    uint8_t *types;
    uint32_t uint_type; // of 32 bits; 0: there is none
    size_t shuffle_count;
    bool has_intel_shuffles;
    // While the copy is written:
    uint32_t *to;
    size_t written;
    uint32_t bound, null_constant;
    bool is_past_capabilities;
};

// The compiler has shuffles of numbers alone.
static bool may_move(const struct mending *mending, const uint32_t *words)
{
    const uint32_t operation = words[0] & 0xffff;
    return ((operation >= OP_GROUP_NON_UNIFORM_SHUFFLE &&
             operation <= OP_GROUP_NON_UNIFORM_SHUFFLE_DOWN) ||
            operation == OP_SUBGROUP_SHUFFLE_INTEL || operation == OP_SUBGROUP_SHUFFLE_XOR_INTEL) &&
           mending->uint_type != 0 && words[1] < mending->words[3] &&
           mending->types[words[1]] == TYPE_NUMBER;
}

static void read_type(struct mending *mending, const uint32_t *words)
{
    const uint32_t operation = words[0] & 0xffff;
    const size_t length = words[0] >> 16;
    if (words[1] >= mending->words[3])
        return;
    if (operation == OP_TYPE_VOID)
        mending->types[words[1]] = TYPE_VOID;
    // A float with one operand more is of another encoding.
    if (operation == OP_TYPE_INT || (operation == OP_TYPE_FLOAT && length == 3))
        mending->types[words[1]] = TYPE_NUMBER;
    if (operation == OP_TYPE_INT && words[2] == 32 && words[3] == 0)
        mending->uint_type = words[1];
}

static void read_all(struct mending *mending)
{
    for (size_t at = HEADER_WORDS; at < mending->count; at += mending->words[at] >> 16) {
        const uint32_t *words = mending->words + at;
        switch (words[0] & 0xffff) {
        case OP_CAPABILITY:
            if (words[1] == CAPABILITY_INTEL_SHUFFLE)
                mending->has_intel_shuffles = true;
            break;
        case OP_TYPE_VOID:
        case OP_TYPE_INT:
        case OP_TYPE_FLOAT:
            read_type(mending, words);
            break;
        default:
            mending->shuffle_count += may_move(mending, words);
        }
    }
}

static void write(struct mending *mending, const uint32_t *words, size_t count)
{
    memcpy(mending->to + mending->written, words, count * sizeof(*words));
    mending->written += count;
}

// Needed by the shuffles that are added: an extension comes behind the last capability.
static void write_extension(struct mending *mending)
{
    const uint32_t capability[CAPABILITY_WORDS] = {CAPABILITY_WORDS << 16 | OP_CAPABILITY,
                                                   CAPABILITY_INTEL_SHUFFLE};
    uint32_t extension[EXTENSION_WORDS] = {(uint32_t)EXTENSION_WORDS << 16 | OP_EXTENSION};
    memcpy(extension + 1, intel_sub_groups, sizeof(intel_sub_groups));
    write(mending, capability, CAPABILITY_WORDS);
    write(mending, extension, EXTENSION_WORDS);
}

static void write_shuffle(struct mending *mending, const uint32_t *words)
{
    const uint32_t moving = mending->bound++;
    const uint32_t shuffle[SHUFFLE_DOWN_WORDS] = {SHUFFLE_DOWN_WORDS << 16 |
                                                      OP_SUBGROUP_SHUFFLE_DOWN_INTEL,
                                                  words[1],
                                                  words[2],
                                                  moving,
                                                  moving,
                                                  mending->null_constant};
    const size_t at = mending->written;
    write(mending, words, words[0] >> 16);
    mending->to[at + 2] = moving;
    write(mending, shuffle, SHUFFLE_DOWN_WORDS);
}

static void write_instruction(struct mending *mending, const uint32_t *words)
{
    const uint32_t operation = words[0] & 0xffff;
    if (operation != OP_CAPABILITY && !mending->is_past_capabilities) {
        mending->is_past_capabilities = true;
        if (!mending->has_intel_shuffles)
            write_extension(mending);
    }
    if (operation == OP_FUNCTION && mending->null_constant == 0) {
        mending->null_constant = mending->bound++;
        const uint32_t constant[NULL_CONSTANT_WORDS] = {NULL_CONSTANT_WORDS << 16 |
                                                            OP_CONSTANT_NULL,
                                                        mending->uint_type, mending->null_constant};
        write(mending, constant, NULL_CONSTANT_WORDS);
    }
    if (may_move(mending, words))
        write_shuffle(mending, words);
    else
        write(mending, words, words[0] >> 16);
}

static bool write_copy(struct mending *mending, uint8_t **out_spirv, size_t *out_size_bytes)
{
    const size_t most = mending->count + CAPABILITY_WORDS + EXTENSION_WORDS + NULL_CONSTANT_WORDS +
                        mending->shuffle_count * SHUFFLE_DOWN_WORDS;
    mending->to = malloc(most * sizeof(*mending->to));
    if (mending->to == NULL)
        return false;
    mending->bound = mending->words[3];
    write(mending, mending->words, HEADER_WORDS);
    for (size_t at = HEADER_WORDS; at < mending->count; at += mending->words[at] >> 16)
        write_instruction(mending, mending->words + at);
    mending->to[3] = mending->bound;
    *out_spirv = (uint8_t *)mending->to;
    *out_size_bytes = mending->written * sizeof(*mending->to);
    return true;
}

bool cpu_mended_create(const void *spirv, size_t spirv_bytes, uint8_t **out_spirv,
                       size_t *out_size_bytes)
{
    struct mending mending = {.words = spirv, .count = spirv_bytes / sizeof(uint32_t)};
    *out_spirv = NULL;
    mending.types = calloc((size_t)mending.words[3] + 1, 1);
    if (mending.types == NULL)
        return false;
    read_all(&mending);
    const bool is_fine =
        mending.shuffle_count == 0 || write_copy(&mending, out_spirv, out_size_bytes);
    free(mending.types);
    return is_fine;
}
