// SPDX-License-Identifier: MIT
#include "spirv_types.h"

#include "spirv_decorations.h"

// Sizes and alignments as the OpenCL C specification has them (6.3.5 "Alignment of Types"):
// natural, a vector of three as one of four, a structure as its members demand unless it is
// CPacked. Types are declared before they are used, so one pass in order computes all of them,
// whatever their nesting.

static const struct zepi_spirv_layout unknown_layout = {0};

static struct zepi_spirv_layout make_layout(uint64_t size_bytes, uint32_t alignment)
{
    if (size_bytes > UINT32_MAX || alignment == 0)
        return unknown_layout;
    return (struct zepi_spirv_layout){(uint32_t)size_bytes, alignment};
}

static uint64_t round_up_offset(uint64_t value, uint32_t alignment)
{
    return (value + alignment - 1) / alignment * alignment;
}

struct zepi_spirv_layout zepi_spirv_layout_of(const struct zepi_spirv_parser *parser, uint32_t id)
{
    assert(id < parser->bound);
    return parser->ids[id].layout;
}

static struct zepi_spirv_layout number_layout(const struct zepi_spirv_parser *parser,
                                              struct zepi_spirv_instruction type)
{
    uint32_t width = zepi_spirv_operand(parser, type, 2);
    if (width == 16 || width == 32 || width == 64 || (width == 8 && type.opcode == OpTypeInt))
        return make_layout(width / 8, width / 8);
    return unknown_layout;
}

static struct zepi_spirv_layout vector_layout(const struct zepi_spirv_parser *parser,
                                              struct zepi_spirv_instruction type)
{
    struct zepi_spirv_layout component =
        zepi_spirv_layout_of(parser, zepi_spirv_operand(parser, type, 2));
    uint32_t count = zepi_spirv_operand(parser, type, 3);
    if (count == 3)
        count = 4;
    if (count != 2 && count != 4 && count != 8 && count != 16)
        return unknown_layout;
    if (component.size_bytes > sizeof(uint64_t)) // no scalar
        return unknown_layout;
    uint32_t size_bytes = component.size_bytes * count;
    return make_layout(size_bytes, component.alignment == 0 ? 0 : size_bytes);
}

static struct zepi_spirv_layout array_layout(const struct zepi_spirv_parser *parser,
                                             struct zepi_spirv_instruction type)
{
    struct zepi_spirv_layout element =
        zepi_spirv_layout_of(parser, zepi_spirv_operand(parser, type, 2));
    uint64_t count;
    if (!zepi_spirv_constant_value(parser, zepi_spirv_operand(parser, type, 3), &count) ||
        count > UINT32_MAX)
        return unknown_layout;
    return make_layout(element.size_bytes * count, element.alignment);
}

static struct zepi_spirv_layout struct_layout(const struct zepi_spirv_parser *parser,
                                              struct zepi_spirv_instruction type)
{
    uint32_t next = type.word + type.length;
    if (next < parser->word_count &&
        zepi_spirv_instruction_at(parser, next).opcode == OpTypeStructContinuedINTEL)
        return unknown_layout;
    uint32_t id = zepi_spirv_operand(parser, type, 1);
    bool is_packed = zepi_spirv_find_decoration(parser, id, ZEPI_SPIRV_PACKED) != NULL;
    uint64_t size_bytes = 0;
    uint32_t alignment = 1;
    for (uint32_t i = 2; i < type.length; i++) {
        struct zepi_spirv_layout member =
            zepi_spirv_layout_of(parser, zepi_spirv_operand(parser, type, i));
        if (member.alignment == 0)
            return unknown_layout;
        if (is_packed)
            member.alignment = 1;
        if (member.alignment > alignment)
            alignment = member.alignment;
        size_bytes = round_up_offset(size_bytes, member.alignment) + member.size_bytes;
    }
    return make_layout(round_up_offset(size_bytes, alignment), alignment);
}

static struct zepi_spirv_layout pointer_layout(const struct zepi_spirv_parser *parser)
{
    const uint32_t physical32 = 1;
    const uint32_t physical64 = 2;
    if (parser->addressing_model == physical32)
        return make_layout(4, 4);
    if (parser->addressing_model == physical64)
        return make_layout(8, 8);
    return unknown_layout;
}

static struct zepi_spirv_layout compute_layout(const struct zepi_spirv_parser *parser,
                                               struct zepi_spirv_instruction type)
{
    switch (type.opcode) {
    case OpTypeBool:
        return make_layout(1, 1);
    case OpTypeInt:
    case OpTypeFloat:
        return number_layout(parser, type);
    case OpTypeVector:
        return vector_layout(parser, type);
    case OpTypeArray:
        return array_layout(parser, type);
    case OpTypeStruct:
        return struct_layout(parser, type);
    case OpTypePointer:
    case OpTypeUntypedPointerKHR:
        return pointer_layout(parser);
    default:
        return unknown_layout;
    }
}

void zepi_spirv_find_layouts(struct zepi_spirv_parser *parser)
{
    const uint32_t *words = parser->types.items;
    for (uint32_t i = 0; i < parser->types.count; i++) {
        struct zepi_spirv_instruction type = zepi_spirv_instruction_at(parser, words[i]);
        parser->ids[zepi_spirv_operand(parser, type, 1)].layout = compute_layout(parser, type);
    }
}

bool zepi_spirv_constant_value(const struct zepi_spirv_parser *parser, uint32_t id,
                               uint64_t *out_value)
{
    struct zepi_spirv_instruction constant = zepi_spirv_definition(parser, id);
    if (constant.opcode == OpSpecConstantTrue || constant.opcode == OpSpecConstantFalse) {
        *out_value = constant.opcode == OpSpecConstantTrue;
        return true;
    }
    if (constant.opcode != OpConstant && constant.opcode != OpSpecConstant)
        return false;
    struct zepi_spirv_layout type =
        zepi_spirv_layout_of(parser, zepi_spirv_operand(parser, constant, 1));
    if (type.alignment == 0)
        return false;
    // The check of operands compares the two as well, if it knows the type by then.
    if (constant.length != (type.size_bytes == 8 ? 5 : 4))
        return false;
    uint64_t value = zepi_spirv_operand(parser, constant, 3);
    if (type.size_bytes == 8)
        value |= (uint64_t)zepi_spirv_operand(parser, constant, 4) << 32;
    else
        value &= (UINT64_C(1) << (8 * type.size_bytes)) - 1;
    *out_value = value;
    return true;
}
