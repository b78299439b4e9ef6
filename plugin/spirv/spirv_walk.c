// SPDX-License-Identifier: MIT
#include "spirv_walk.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum zepi_spirv_status zepi_spirv_fail(struct zepi_spirv_walk *walk, uint32_t word,
                                       const char *format, ...)
{
    if (walk->message_size == 0)
        return ZEPI_SPIRV_INVALID;
    int length = snprintf(walk->message, walk->message_size, "word %u: ", word);
    if (length < 0 || (size_t)length >= walk->message_size)
        return ZEPI_SPIRV_INVALID;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(walk->message + length, walk->message_size - (size_t)length, format, arguments);
    va_end(arguments);
    return ZEPI_SPIRV_INVALID;
}

struct zepi_spirv_opcode_text zepi_spirv_opcode_text(uint32_t opcode)
{
    static const struct {
        uint32_t opcode;
        const char *name;
    } names[] = {
#define NAMED_OPCODE(name, value) {value, #name},
        ZEPI_SPIRV_OPCODES(NAMED_OPCODE)
#undef NAMED_OPCODE
    };
    struct zepi_spirv_opcode_text text;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i].opcode == opcode) {
            snprintf(text.text, sizeof(text.text), "%s", names[i].name);
            return text;
        }
    }
    snprintf(text.text, sizeof(text.text), "opcode %u", opcode);
    return text;
}

bool zepi_spirv_append(struct zepi_spirv_list *list, const void *item, size_t item_size)
{
    if (list->count == list->capacity) {
        if (list->capacity > UINT32_MAX / 2)
            return false;
        uint32_t capacity = list->capacity == 0 ? 16 : list->capacity * 2;
        void *items = realloc(list->items, (size_t)capacity * item_size);
        if (!items)
            return false;
        list->items = items;
        list->capacity = capacity;
    }
    memcpy((char *)list->items + (size_t)list->count * item_size, item, item_size);
    list->count++;
    return true;
}

void zepi_spirv_walk_finish(struct zepi_spirv_walk *walk)
{
    free(walk->ids);
    free(walk->decorations.items);
    free(walk->group_decorates.items);
    free(walk->execution_modes.items);
    free(walk->types.items);
    free(walk->variables.items);
    free(walk->entries.items);
    free(walk->names.items);
    free(walk->layouts);
    free(walk->entry_functions);
}
