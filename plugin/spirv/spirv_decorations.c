// SPDX-License-Identifier: MIT
#include "spirv_decorations.h"

#include "spirv_operands.h"

#include <stdlib.h>

// Values of the specification, sections "Function Parameter Attribute" and "Linkage Type".
enum { FUNC_PARAM_ATTR_BY_VAL = 2, LAST_LINKAGE_TYPE = 2 };

bool zepi_spirv_note_name(struct zepi_spirv_parser *parser,
                          struct zepi_spirv_instruction instruction, uint32_t index,
                          uint32_t *out_offset, uint32_t *out_next)
{
    uint32_t length;
    if (!zepi_spirv_string(parser, instruction, index, &length, out_next))
        return zepi_spirv_refuse(parser, instruction,
                                 "holds a name that does not end, expected a byte 0 in it");
    const unsigned char *name =
        parser->bytes + ((size_t)instruction.word + index) * sizeof(uint32_t);
    *out_offset = parser->names.count;
    return zepi_spirv_append(&parser->names, name, length + 1, 1);
}

static bool read_linkage(struct zepi_spirv_parser *parser,
                         struct zepi_spirv_instruction instruction,
                         struct zepi_spirv_decoration *decoration)
{
    uint32_t next;
    if (!zepi_spirv_note_name(parser, instruction, 3, &decoration->value, &next))
        return false;
    if (next >= instruction.length)
        return zepi_spirv_refuse(parser, instruction,
                                 "LinkageAttributes ends with the name, expected the linkage type "
                                 "behind it");
    decoration->detail = zepi_spirv_operand(parser, instruction, next);
    if (decoration->detail > LAST_LINKAGE_TYPE)
        return zepi_spirv_fail(parser, instruction.word,
                               "linkage type %u, expected 0 (Export), 1 (Import) or 2 "
                               "(LinkOnceODR)",
                               decoration->detail);
    return true;
}

bool zepi_spirv_note_decoration(struct zepi_spirv_parser *parser,
                                struct zepi_spirv_instruction instruction)
{
    struct zepi_spirv_decoration decoration = {
        .target = zepi_spirv_operand(parser, instruction, 1),
        .kind = (enum zepi_spirv_decoration_kind)zepi_spirv_operand(parser, instruction, 2),
        .word = instruction.word,
    };
    switch (decoration.kind) {
    case ZEPI_SPIRV_SPEC_ID:
    case ZEPI_SPIRV_BY_VALUE:
        if (instruction.length < 4)
            return zepi_spirv_refuse(parser, instruction, "%s has no operand, expected one",
                                     decoration.kind == ZEPI_SPIRV_SPEC_ID ? "SpecId"
                                                                           : "FuncParamAttr");
        decoration.value = zepi_spirv_operand(parser, instruction, 3);
        if (decoration.kind == ZEPI_SPIRV_BY_VALUE && decoration.value != FUNC_PARAM_ATTR_BY_VAL)
            return true;
        break;
    case ZEPI_SPIRV_LINKAGE:
        if (!read_linkage(parser, instruction, &decoration))
            return false;
        break;
    case ZEPI_SPIRV_PACKED:
    case ZEPI_SPIRV_BUILT_IN:
    case ZEPI_SPIRV_CONSTANT:
        break;
    default:
        return true;
    }
    return zepi_spirv_append(&parser->decorations, &decoration, 1, sizeof(decoration));
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
static bool sort_decorations(struct zepi_spirv_parser *parser)
{
    struct zepi_spirv_decoration *items = parser->decorations.items;
    uint32_t count = parser->decorations.count;
    if (count == 0)
        return true;
    qsort(items, count, sizeof(*items), compare_decorations);
    uint32_t kept = 1;
    for (uint32_t i = 1; i < count; i++) {
        const struct zepi_spirv_decoration *last = &items[kept - 1];
        if (items[i].target != last->target || items[i].kind != last->kind) {
            items[kept++] = items[i];
            continue;
        }
        if (items[i].kind == ZEPI_SPIRV_SPEC_ID && items[i].value != last->value)
            return zepi_spirv_fail(parser, items[i].word,
                                   "id %u gets SpecId %u, expected SpecId %u as word %u has it",
                                   items[i].target, items[i].value, last->value, last->word);
        if (items[i].kind == ZEPI_SPIRV_LINKAGE && items[i].value != last->value)
            return zepi_spirv_fail(parser, items[i].word,
                                   "id %u gets LinkageAttributes, expected only those of word %u",
                                   items[i].target, last->word);
    }
    parser->decorations.count = kept;
    return true;
}

// The index of the first decoration that is not below (target, kind), of the first `count`, which
// are sorted.
static uint32_t decoration_lower_bound(const struct zepi_spirv_parser *parser, uint32_t count,
                                       uint32_t target, enum zepi_spirv_decoration_kind kind)
{
    const struct zepi_spirv_decoration *items = parser->decorations.items;
    uint32_t low = 0;
    uint32_t high = count;
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
static bool apply_decoration_group(struct zepi_spirv_parser *parser,
                                   struct zepi_spirv_instruction instruction, uint32_t sorted_count)
{
    uint32_t group = zepi_spirv_operand(parser, instruction, 1);
    uint32_t opcode = zepi_spirv_definition(parser, group).opcode;
    if (opcode != OpDecorationGroup)
        return zepi_spirv_fail(parser, instruction.word,
                               "OpGroupDecorate names id %u as its group, expected one that "
                               "OpDecorationGroup defines",
                               group);
    uint32_t begin = decoration_lower_bound(parser, sorted_count, group, 0);
    for (uint32_t i = 2; i < instruction.length; i++) {
        uint32_t target = zepi_spirv_operand(parser, instruction, i);
        if (zepi_spirv_definition(parser, target).opcode == OpDecorationGroup)
            return zepi_spirv_fail(parser, instruction.word,
                                   "OpGroupDecorate names id %u as a target, expected no group",
                                   target);
        for (uint32_t j = begin; j < sorted_count; j++) {
            struct zepi_spirv_decoration copy =
                ((const struct zepi_spirv_decoration *)parser->decorations.items)[j];
            if (copy.target != group)
                break;
            copy.target = target;
            if (!zepi_spirv_append(&parser->decorations, &copy, 1, sizeof(copy)))
                return false;
        }
    }
    return true;
}

// A group is nothing that a decoration is about: its targets have copies.
static void drop_decoration_groups(struct zepi_spirv_parser *parser)
{
    struct zepi_spirv_decoration *items = parser->decorations.items;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < parser->decorations.count; i++) {
        if (zepi_spirv_definition(parser, items[i].target).opcode != OpDecorationGroup)
            items[kept++] = items[i];
    }
    parser->decorations.count = kept;
}

bool zepi_spirv_resolve_decorations(struct zepi_spirv_parser *parser)
{
    if (!sort_decorations(parser))
        return false;
    uint32_t sorted_count = parser->decorations.count;
    const uint32_t *words = parser->group_decorates.items;
    for (uint32_t i = 0; i < parser->group_decorates.count; i++) {
        if (!apply_decoration_group(parser, zepi_spirv_instruction_at(parser, words[i]),
                                    sorted_count))
            return false;
    }
    drop_decoration_groups(parser);
    return sort_decorations(parser);
}

const struct zepi_spirv_decoration *
zepi_spirv_find_decoration(const struct zepi_spirv_parser *parser, uint32_t target,
                           enum zepi_spirv_decoration_kind kind)
{
    const struct zepi_spirv_decoration *items = parser->decorations.items;
    uint32_t index = decoration_lower_bound(parser, parser->decorations.count, target, kind);
    if (index == parser->decorations.count || items[index].target != target ||
        items[index].kind != kind)
        return NULL;
    return &items[index];
}
