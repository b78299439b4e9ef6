// SPDX-License-Identifier: MIT
#include "spirv_decorations.h"

#include "spirv_operands.h"

#include <stdlib.h>

// Values of the specification, section "Decoration" and "Linkage Type".
enum {
    DECORATION_SPEC_ID = 1,
    DECORATION_C_PACKED = 10,
    DECORATION_BUILT_IN = 11,
    DECORATION_CONSTANT = 22,
    DECORATION_FUNC_PARAM_ATTR = 38,
    DECORATION_LINKAGE_ATTRIBUTES = 41,
    FUNC_PARAM_ATTR_BY_VAL = 2,
    LAST_LINKAGE_TYPE = 2,
};

enum zepi_spirv_status zepi_spirv_note_name(struct zepi_spirv_walk *walk,
                                            struct zepi_spirv_instruction instruction,
                                            uint32_t index, uint32_t *out_offset,
                                            uint32_t *out_next)
{
    uint32_t length;
    if (!zepi_spirv_string(walk, instruction, index, &length, out_next))
        return zepi_spirv_fail(walk, instruction.word,
                               "%s holds a name that does not end, expected a byte 0 in it",
                               zepi_spirv_opcode_text(instruction.opcode).text);
    struct zepi_spirv_list *names = &walk->names;
    const char *name =
        (const char *)walk->bytes + ((size_t)instruction.word + index) * sizeof(uint32_t);
    if (length >= names->capacity - names->count) {
        uint64_t capacity = ((uint64_t)names->count + length + 1) * 2;
        char *items = capacity <= UINT32_MAX ? realloc(names->items, (size_t)capacity) : NULL;
        if (!items)
            return ZEPI_SPIRV_OUT_OF_MEMORY;
        names->items = items;
        names->capacity = (uint32_t)capacity;
    }
    memcpy((char *)names->items + names->count, name, (size_t)length + 1);
    *out_offset = names->count;
    names->count += length + 1;
    return ZEPI_SPIRV_OK;
}

static enum zepi_spirv_status read_linkage(struct zepi_spirv_walk *walk,
                                           struct zepi_spirv_instruction instruction,
                                           struct zepi_spirv_decoration *decoration)
{
    uint32_t next;
    enum zepi_spirv_status status =
        zepi_spirv_note_name(walk, instruction, 3, &decoration->value, &next);
    if (status != ZEPI_SPIRV_OK)
        return status;
    if (next >= instruction.length)
        return zepi_spirv_fail(walk, instruction.word,
                               "OpDecorate LinkageAttributes ends with the name, expected the "
                               "linkage type behind it");
    decoration->detail = zepi_spirv_operand(walk, instruction, next);
    if (decoration->detail > LAST_LINKAGE_TYPE)
        return zepi_spirv_fail(walk, instruction.word,
                               "linkage type %u, expected 0 (Export), 1 (Import) or 2 "
                               "(LinkOnceODR)",
                               decoration->detail);
    return ZEPI_SPIRV_OK;
}

enum zepi_spirv_status zepi_spirv_note_decoration(struct zepi_spirv_walk *walk,
                                                  struct zepi_spirv_instruction instruction)
{
    struct zepi_spirv_decoration decoration = {
        .target = zepi_spirv_operand(walk, instruction, 1),
        .word = instruction.word,
    };
    uint32_t number = zepi_spirv_operand(walk, instruction, 2);
    if ((number == DECORATION_SPEC_ID || number == DECORATION_FUNC_PARAM_ATTR) &&
        instruction.length < 4)
        return zepi_spirv_fail(walk, instruction.word, "OpDecorate %s has no operand, expected one",
                               number == DECORATION_SPEC_ID ? "SpecId" : "FuncParamAttr");
    enum zepi_spirv_status status = ZEPI_SPIRV_OK;
    switch (number) {
    case DECORATION_SPEC_ID:
        decoration.kind = ZEPI_SPIRV_SPEC_ID;
        decoration.value = zepi_spirv_operand(walk, instruction, 3);
        break;
    case DECORATION_C_PACKED:
        decoration.kind = ZEPI_SPIRV_PACKED;
        break;
    case DECORATION_BUILT_IN:
        decoration.kind = ZEPI_SPIRV_BUILT_IN;
        break;
    case DECORATION_CONSTANT:
        decoration.kind = ZEPI_SPIRV_CONSTANT;
        break;
    case DECORATION_FUNC_PARAM_ATTR:
        if (zepi_spirv_operand(walk, instruction, 3) != FUNC_PARAM_ATTR_BY_VAL)
            return ZEPI_SPIRV_OK;
        decoration.kind = ZEPI_SPIRV_BY_VALUE;
        break;
    case DECORATION_LINKAGE_ATTRIBUTES:
        decoration.kind = ZEPI_SPIRV_LINKAGE;
        status = read_linkage(walk, instruction, &decoration);
        break;
    default:
        return ZEPI_SPIRV_OK;
    }
    if (status == ZEPI_SPIRV_OK &&
        !zepi_spirv_append(&walk->decorations, &decoration, sizeof(decoration)))
        status = ZEPI_SPIRV_OUT_OF_MEMORY;
    return status;
}

static int compare_decorations(const void *left, const void *right)
{
    const struct zepi_spirv_decoration *a = left;
    const struct zepi_spirv_decoration *b = right;
    if (a->target != b->target)
        return a->target < b->target ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return (a->word > b->word) - (a->word < b->word);
}

// Sorts and keeps one decoration of each kind for each target, so that a group hands at most that
// many to each of its targets.
static enum zepi_spirv_status sort_decorations(struct zepi_spirv_walk *walk)
{
    struct zepi_spirv_decoration *items = walk->decorations.items;
    uint32_t count = walk->decorations.count;
    if (count == 0)
        return ZEPI_SPIRV_OK;
    qsort(items, count, sizeof(*items), compare_decorations);
    uint32_t kept = 1;
    for (uint32_t i = 1; i < count; i++) {
        const struct zepi_spirv_decoration *last = &items[kept - 1];
        if (items[i].target != last->target || items[i].kind != last->kind) {
            items[kept++] = items[i];
            continue;
        }
        if (items[i].kind == ZEPI_SPIRV_SPEC_ID && items[i].value != last->value)
            return zepi_spirv_fail(walk, items[i].word,
                                   "id %u gets SpecId %u, expected SpecId %u as word %u has it",
                                   items[i].target, items[i].value, last->value, last->word);
        if (items[i].kind == ZEPI_SPIRV_LINKAGE && items[i].value != last->value)
            return zepi_spirv_fail(walk, items[i].word,
                                   "id %u gets LinkageAttributes, expected only those of word %u",
                                   items[i].target, last->word);
    }
    walk->decorations.count = kept;
    return ZEPI_SPIRV_OK;
}

// The index of the first decoration that is not below (target, kind).
static uint32_t decoration_lower_bound(const struct zepi_spirv_walk *walk, uint32_t target,
                                       enum zepi_spirv_decoration_kind kind)
{
    const struct zepi_spirv_decoration *items = walk->decorations.items;
    uint32_t low = 0;
    uint32_t high = walk->decorations.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (items[middle].target < target ||
            (items[middle].target == target && items[middle].kind < kind))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Appends copies of the group's decorations for each target that the instruction names. The first
// `sorted_count` decorations are sorted.
static enum zepi_spirv_status apply_decoration_group(struct zepi_spirv_walk *walk,
                                                     struct zepi_spirv_instruction instruction,
                                                     uint32_t sorted_count)
{
    uint32_t group = zepi_spirv_operand(walk, instruction, 1);
    uint32_t opcode = zepi_spirv_definition(walk, group).opcode;
    if (opcode != OpDecorationGroup)
        return zepi_spirv_fail(walk, instruction.word,
                               "OpGroupDecorate names id %u as its group, expected one that "
                               "OpDecorationGroup defines",
                               group);
    uint32_t appended_count = walk->decorations.count;
    walk->decorations.count = sorted_count;
    uint32_t begin = decoration_lower_bound(walk, group, 0);
    walk->decorations.count = appended_count;

    for (uint32_t i = 2; i < instruction.length; i++) {
        uint32_t target = zepi_spirv_operand(walk, instruction, i);
        if (zepi_spirv_definition(walk, target).opcode == OpDecorationGroup)
            return zepi_spirv_fail(walk, instruction.word,
                                   "OpGroupDecorate names id %u as a target, expected no group",
                                   target);
        for (uint32_t j = begin; j < sorted_count; j++) {
            struct zepi_spirv_decoration copy =
                ((const struct zepi_spirv_decoration *)walk->decorations.items)[j];
            if (copy.target != group)
                break;
            copy.target = target;
            if (!zepi_spirv_append(&walk->decorations, &copy, sizeof(copy)))
                return ZEPI_SPIRV_OUT_OF_MEMORY;
        }
    }
    return ZEPI_SPIRV_OK;
}

// A group is nothing that a decoration is about: its targets have copies.
static void drop_decoration_groups(struct zepi_spirv_walk *walk)
{
    struct zepi_spirv_decoration *items = walk->decorations.items;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < walk->decorations.count; i++) {
        if (zepi_spirv_definition(walk, items[i].target).opcode != OpDecorationGroup)
            items[kept++] = items[i];
    }
    walk->decorations.count = kept;
}

enum zepi_spirv_status zepi_spirv_resolve_decorations(struct zepi_spirv_walk *walk)
{
    enum zepi_spirv_status status = sort_decorations(walk);
    if (status != ZEPI_SPIRV_OK)
        return status;
    uint32_t sorted_count = walk->decorations.count;
    const uint32_t *words = walk->group_decorates.items;
    for (uint32_t i = 0; i < walk->group_decorates.count; i++) {
        status =
            apply_decoration_group(walk, zepi_spirv_instruction_at(walk, words[i]), sorted_count);
        if (status != ZEPI_SPIRV_OK)
            return status;
    }
    drop_decoration_groups(walk);
    return sort_decorations(walk);
}

const struct zepi_spirv_decoration *zepi_spirv_find_decoration(const struct zepi_spirv_walk *walk,
                                                               uint32_t target,
                                                               enum zepi_spirv_decoration_kind kind)
{
    const struct zepi_spirv_decoration *items = walk->decorations.items;
    uint32_t index = decoration_lower_bound(walk, target, kind);
    if (index == walk->decorations.count || items[index].target != target ||
        items[index].kind != kind)
        return NULL;
    return &items[index];
}
