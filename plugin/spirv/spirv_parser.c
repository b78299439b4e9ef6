// SPDX-License-Identifier: MIT
#include "spirv_parser.h"

#include "spirv_grammar.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct zepi_spirv_opcode_text zepi_spirv_opcode_text(uint32_t opcode)
{
    struct zepi_spirv_opcode_text text;
    const char *name = zepi_spirv_opcode_name(opcode);
    if (name)
        snprintf(text.text, sizeof(text.text), "%s", name);
    else
        snprintf(text.text, sizeof(text.text), "opcode %u", opcode);
    return text;
}

static void write_message(struct zepi_spirv_parser *parser, const char *head, const char *format,
                          va_list arguments)
{
    parser->is_refused = true;
    int length = snprintf(parser->message, parser->message_size, "%s", head);
    if (length >= 0 && (size_t)length < parser->message_size)
        vsnprintf(parser->message + length, parser->message_size - (size_t)length, format,
                  arguments);
}

bool zepi_spirv_fail(struct zepi_spirv_parser *parser, uint32_t word, const char *format, ...)
{
    char head[32];
    va_list arguments;
    snprintf(head, sizeof(head), "word %u: ", word);
    va_start(arguments, format);
    write_message(parser, head, format, arguments);
    va_end(arguments);
    return false;
}

bool zepi_spirv_refuse(struct zepi_spirv_parser *parser, struct zepi_spirv_instruction instruction,
                       const char *format, ...)
{
    char head[64];
    va_list arguments;
    snprintf(head, sizeof(head), "word %u: %s ", instruction.word,
             zepi_spirv_opcode_text(instruction.opcode).text);
    va_start(arguments, format);
    write_message(parser, head, format, arguments);
    va_end(arguments);
    return false;
}

bool zepi_spirv_append(struct zepi_spirv_list *list, const void *items, uint32_t count,
                       size_t item_size)
{
    if (count > list->capacity - list->count) {
        const uint64_t capacity = ((uint64_t)list->count + count) * 2 + 16;
        void *longer =
            capacity <= UINT32_MAX ? realloc(list->items, (size_t)capacity * item_size) : NULL;
        if (!longer)
            return false;
        list->items = longer;
        list->capacity = (uint32_t)capacity;
    }
    memcpy((char *)list->items + (size_t)list->count * item_size, items, count * item_size);
    list->count += count;
    return true;
}

void zepi_spirv_parser_finish(struct zepi_spirv_parser *parser)
{
    free(parser->ids);
    free(parser->decorations.items);
    free(parser->group_decorates.items);
    free(parser->execution_modes.items);
    free(parser->types.items);
    free(parser->variables.items);
    free(parser->entries.items);
    free(parser->names.items);
    free(parser->entry_functions);
}
