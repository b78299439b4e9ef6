// SPDX-License-Identifier: MIT
#include "spirv_operands.h"

#include "spirv_grammar.h"

// The operands of one instruction from `next` on.
struct cursor {
    struct zepi_spirv_parser *parser;
    struct zepi_spirv_instruction instruction;
    uint32_t next;
};

static bool is_at_end(const struct cursor *cursor)
{
    return cursor->next >= cursor->instruction.length;
}

static bool refuse_short(const struct cursor *cursor)
{
    return zepi_spirv_refuse(cursor->parser, cursor->instruction,
                             "has %u words, expected more for its operands",
                             cursor->instruction.length);
}

static bool take_word(struct cursor *cursor, uint32_t *out_word)
{
    if (is_at_end(cursor))
        return refuse_short(cursor);
    *out_word = zepi_spirv_operand(cursor->parser, cursor->instruction, cursor->next++);
    return true;
}

static bool take_id(struct cursor *cursor, uint32_t *out_id)
{
    if (!take_word(cursor, out_id))
        return false;
    if (*out_id == 0)
        return zepi_spirv_refuse(cursor->parser, cursor->instruction,
                                 "names id 0, expected ids from 1 on");
    if (*out_id >= cursor->parser->bound)
        return zepi_spirv_refuse(cursor->parser, cursor->instruction,
                                 "names id %u, expected an id below the bound %u", *out_id,
                                 cursor->parser->bound);
    return true;
}

static bool use_id(struct cursor *cursor)
{
    uint32_t id = 0;
    if (!take_id(cursor, &id))
        return false;
    struct zepi_spirv_id *entry = &cursor->parser->ids[id];
    if (entry->used_at == 0) {
        entry->used_at = cursor->instruction.word;
        if (entry->defined_at == 0)
            cursor->parser->undefined_count++;
    }
    return true;
}

static bool use_ids_to_end(struct cursor *cursor)
{
    while (!is_at_end(cursor)) {
        if (!use_id(cursor))
            return false;
    }
    return true;
}

// Whether an instruction that the table does not know may have defined the id before.
static bool rely_on_guess(struct zepi_spirv_parser *parser, uint32_t id)
{
    struct zepi_spirv_id *entry = &parser->ids[id];
    if (entry->defined_at != 0 || entry->guess == ZEPI_SPIRV_NO_GUESS)
        return false;
    entry->guess = ZEPI_SPIRV_IS_RELIED_ON;
    return true;
}

static bool use_type(struct cursor *cursor)
{
    struct zepi_spirv_parser *parser = cursor->parser;
    if (!use_id(cursor))
        return false;
    uint32_t id = zepi_spirv_operand(parser, cursor->instruction, cursor->next - 1);
    return zepi_spirv_is_type(zepi_spirv_definition(parser, id).opcode) ||
           rely_on_guess(parser, id) ||
           zepi_spirv_refuse(parser, cursor->instruction,
                             "has id %u as result type, expected a type that is declared before it",
                             id);
}

static bool define_id(struct cursor *cursor)
{
    uint32_t id = 0;
    if (!take_id(cursor, &id))
        return false;
    struct zepi_spirv_id *entry = &cursor->parser->ids[id];
    if (entry->defined_at != 0)
        return zepi_spirv_refuse(cursor->parser, cursor->instruction,
                                 "defines id %u, expected one that word %u has not defined already",
                                 id, entry->defined_at);
    if (entry->guess == ZEPI_SPIRV_IS_RELIED_ON)
        return zepi_spirv_refuse(cursor->parser, cursor->instruction,
                                 "defines id %u, which is used as a type or an instruction set "
                                 "before it",
                                 id);
    entry->defined_at = cursor->instruction.word;
    if (entry->used_at != 0)
        cursor->parser->undefined_count--;
    return true;
}

bool zepi_spirv_string(const struct zepi_spirv_parser *parser,
                       struct zepi_spirv_instruction instruction, uint32_t index,
                       uint32_t *out_length, uint32_t *out_next)
{
    if (index >= instruction.length)
        return false;
    size_t size_bytes = (size_t)(instruction.length - index) * sizeof(uint32_t);
    const unsigned char *text =
        parser->bytes + ((size_t)instruction.word + index) * sizeof(uint32_t);
    const unsigned char *end = memchr(text, 0, size_bytes);
    if (!end)
        return false;
    *out_length = (uint32_t)(end - text);
    *out_next = index + *out_length / (uint32_t)sizeof(uint32_t) + 1;
    return true;
}

static bool take_string(struct cursor *cursor)
{
    uint32_t length;
    if (is_at_end(cursor))
        return refuse_short(cursor);
    return zepi_spirv_string(cursor->parser, cursor->instruction, cursor->next, &length,
                             &cursor->next) ||
           zepi_spirv_refuse(cursor->parser, cursor->instruction,
                             "holds a string that does not end, expected a byte 0 in it");
}

// Words of a literal of the type that `type_id` names; 0 if the type is no number.
static uint32_t literal_words(const struct zepi_spirv_parser *parser, uint32_t type_id)
{
    struct zepi_spirv_instruction type = zepi_spirv_definition(parser, type_id);
    if (type.opcode != OpTypeInt && type.opcode != OpTypeFloat)
        return 0;
    uint32_t width = zepi_spirv_operand(parser, type, 2);
    return width / 32 + (width % 32 != 0);
}

static bool take_literal(struct cursor *cursor)
{
    uint32_t type_id = zepi_spirv_operand(cursor->parser, cursor->instruction, 1);
    uint32_t type = zepi_spirv_definition(cursor->parser, type_id).opcode;
    uint32_t words = literal_words(cursor->parser, type_id);
    uint32_t left = cursor->instruction.length - cursor->next;
    if (words == 0 && type != 0 && zepi_spirv_format(type))
        return zepi_spirv_refuse(cursor->parser, cursor->instruction,
                                 "is of type id %u, expected an integer or floating-point type",
                                 type_id);
    if (words != 0 && words != left)
        return zepi_spirv_refuse(cursor->parser, cursor->instruction,
                                 "has %u words of value, expected %u for its type", left, words);
    cursor->next = cursor->instruction.length;
    return true;
}

static bool take_switch_pairs(struct cursor *cursor)
{
    uint32_t selector_id = zepi_spirv_operand(cursor->parser, cursor->instruction, 1);
    struct zepi_spirv_instruction selector = zepi_spirv_definition(cursor->parser, selector_id);
    const char *format = zepi_spirv_format(selector.opcode);
    uint32_t words = 0;
    if (format && format[0] == 't')
        words = literal_words(cursor->parser, zepi_spirv_operand(cursor->parser, selector, 1));
    if (words == 0) // the width cannot be known
        return true;
    while (!is_at_end(cursor)) {
        if (words >= cursor->instruction.length - cursor->next)
            return refuse_short(cursor);
        cursor->next += words;
        if (!use_id(cursor))
            return false;
    }
    return true;
}

// A mask, then for some bits a literal or an id, in the order of the bits.
static bool take_memory_operands(struct cursor *cursor)
{
    const uint32_t aligned = 0x2;
    const uint32_t with_id = 0x8 | 0x10 | 0x10000 | 0x20000; // make available, make visible,
                                                             // alias scope, no alias
    const uint32_t without_operand = 0x1 | 0x4 | 0x20;       // volatile, nontemporal, non-private
    uint32_t mask = 0;
    uint32_t literal;
    if (!take_word(cursor, &mask))
        return false;
    if ((mask & ~(aligned | with_id | without_operand)) != 0) {
        // Where the operands of an unknown bit end is unknown.
        cursor->next = cursor->instruction.length;
        return true;
    }
    for (uint32_t bit = 1; bit != 0 && bit <= mask; bit <<= 1) {
        if ((mask & bit & aligned && !take_word(cursor, &literal)) ||
            (mask & bit & with_id && !use_id(cursor)))
            return false;
    }
    return true;
}

// Only where all operands are known to be ids: the instructions of OpenCL.std but for the vector
// loads and stores (171 to 182), which hold literals.
static bool take_extended_operands(struct cursor *cursor)
{
    static const char opencl[] = "OpenCL.std";
    struct zepi_spirv_parser *parser = cursor->parser;
    uint32_t set_id = zepi_spirv_operand(parser, cursor->instruction, 3);
    uint32_t number = zepi_spirv_operand(parser, cursor->instruction, 4);
    struct zepi_spirv_instruction set = zepi_spirv_definition(parser, set_id);
    if (set.opcode != OpExtInstImport)
        return rely_on_guess(parser, set_id) ||
               zepi_spirv_refuse(parser, cursor->instruction,
                                 "names id %u as its instruction set, expected an OpExtInstImport "
                                 "before it",
                                 set_id);
    const unsigned char *name = parser->bytes + ((size_t)set.word + 2) * sizeof(uint32_t);
    bool is_opencl = (set.length - 2) * sizeof(uint32_t) >= sizeof(opencl) &&
                     memcmp(name, opencl, sizeof(opencl)) == 0;
    return !is_opencl || (number >= 171 && number <= 182) || use_ids_to_end(cursor);
}

static bool check_format(struct cursor *cursor, const char *format);

static bool take_nested_operation(struct cursor *cursor)
{
    uint32_t opcode = 0;
    if (!take_word(cursor, &opcode))
        return false;
    const char *format = zepi_spirv_format(opcode);
    return !format || strncmp(format, "tri", 3) != 0 || strchr(format, 'E') ||
           check_format(cursor, format + 2);
}

static bool take_operand(struct cursor *cursor, char letter)
{
    uint32_t word;
    switch (letter) {
    case 't':
        return use_type(cursor);
    case 'T':
    case 'r':
        return define_id(cursor);
    case 'i':
        return use_id(cursor);
    case 'w':
        return take_word(cursor, &word);
    case 's':
        return take_string(cursor);
    case 'n':
        return take_literal(cursor);
    case 'S':
        return take_switch_pairs(cursor);
    case 'M':
        return take_memory_operands(cursor);
    case 'X': // a mask, and an id or two for each bit
        return take_word(cursor, &word) && use_ids_to_end(cursor);
    case 'E':
        return take_extended_operands(cursor);
    default:
        assert(letter == 'O');
        return take_nested_operation(cursor);
    }
}

static bool check_format(struct cursor *cursor, const char *format)
{
    const char *repeated = NULL;
    bool is_optional = false;
    for (const char *letter = format; *letter || repeated; letter++) {
        if (!*letter)
            letter = repeated;
        if (*letter == '?' || *letter == '*') {
            is_optional = true;
            if (*letter == '*')
                repeated = letter + 1;
            continue;
        }
        if (is_at_end(cursor) && is_optional && (!repeated || letter == repeated))
            return true;
        if (!take_operand(cursor, *letter))
            return false;
    }
    return true;
}

bool zepi_spirv_check_operands(struct zepi_spirv_parser *parser,
                               struct zepi_spirv_instruction instruction)
{
    const char *format = zepi_spirv_format(instruction.opcode);
    struct cursor cursor = {.parser = parser, .instruction = instruction, .next = 1};
    if (format)
        return check_format(&cursor, format);
    // The result of an instruction is its first operand, or its second behind a type.
    for (uint32_t i = 1; i < 3 && i < instruction.length; i++) {
        const uint32_t id = zepi_spirv_operand(parser, instruction, i);
        if (id < parser->bound && parser->ids[id].guess == ZEPI_SPIRV_NO_GUESS)
            parser->ids[id].guess = ZEPI_SPIRV_MAY_BE_DEFINED;
    }
    return true;
}
