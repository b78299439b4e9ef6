// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_NATIVE_SYMBOLS_H
#define ZEPI_PROGRAM_NATIVE_SYMBOLS_H

#include "core/status.h"
#include "spirv/spirv.h"

// The linkage table of some objects that are to be linked: the imports and exports of each. Drivers
// report clashes of names badly (the first definition wins, or an empty log), so zepi looks for
// them first. A table belongs to one thread until it is checked.

enum zepi_symbol_kind {
    ZEPI_SYMBOL_KERNEL, // has ZEPI_SPIRV_EXPORT
    ZEPI_SYMBOL_FUNCTION,
    ZEPI_SYMBOL_VARIABLE,
};

struct zepi_symbol {
    const char *name; // borrowed
    enum zepi_symbol_kind kind;
    enum zepi_spirv_linkage linkage;
    uint32_t member; // which piece of code has it
    uint32_t object; // which object that piece is of, for people; or ZEPI_SYMBOL_OF_NO_OBJECT
};

#define ZEPI_SYMBOL_OF_NO_OBJECT UINT32_MAX // of a module that is built by itself

struct zepi_symbols {
    struct zepi_symbol *list; // owned; sorted by name, then by member, once checked
    size_t count;
    size_t capacity;
};

void zepi_symbols_finish(struct zepi_symbols *symbols);

// False without memory (noted). Names are borrowed.
bool zepi_symbols_add(struct zepi_symbols *symbols, const struct zepi_symbol *symbol);
bool zepi_symbols_add_kernel(struct zepi_symbols *symbols, const char *name, uint32_t member,
                             uint32_t object);
bool zepi_symbols_add_linked(struct zepi_symbols *symbols, const struct zepi_spirv_symbol *symbol,
                             uint32_t member, uint32_t object);
bool zepi_symbols_add_spirv(struct zepi_symbols *symbols, const struct zepi_spirv *spirv,
                            uint32_t member, uint32_t object);

// Sorts the table, and fails if two members have a kernel of one name, or export one symbol unless
// all of them mark it as LinkOnceODR: ZEPI_ERROR_LINK_FAILURE, naming each such symbol and its
// objects. Members are different pieces of code: the same piece twice is one member.
zepi_result_t zepi_symbols_check(struct zepi_symbols *symbols);

// Whether some member exports the name.
bool zepi_symbols_is_defined(const struct zepi_symbols *symbols, const char *name);

// Fails because the driver cannot link, with the undefined symbols of a table that was sorted:
// those that the driver's text (NULL: none) names, or all if it names none of them. Drivers supply
// some imports themselves.
zepi_result_t zepi_symbols_fail_missing(const struct zepi_symbols *symbols, const char *text);

#endif
