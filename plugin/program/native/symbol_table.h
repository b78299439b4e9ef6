// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_NATIVE_SYMBOL_TABLE_H
#define ZEPI_PROGRAM_NATIVE_SYMBOL_TABLE_H

#include "cache/digest.h"
#include "cache/key.h"
#include "spirv/spirv.h"

// The linkage table of a piece of native code as bytes, and the key under which the cache of native
// code has it, in memory and on the disk. The command zepi reads the latter. Any thread.
//
//     version    1 byte, so that no table is empty
//     symbol*    kind, 1 byte; linkage, 1 byte; the name and a zero

#define ZEPI_SYMBOL_TABLE_VERSION 1

// The two bytes in front of a symbol's name.
void zepi_symbol_table_write_head(const struct zepi_spirv_symbol *symbol, char out_head[2]);

// The symbol at *inout_offset, which is 0 for the first one and moves to the next; its name lies in
// the table. False: there are no more. Bytes of another make are the end, too: checksums guard the
// files on the disk, this guards against other damage.
bool zepi_symbol_table_next(const void *bytes, size_t size_bytes, size_t *inout_offset,
                            struct zepi_spirv_symbol *out_symbol);

// The key of the table of native code with this digest. False without memory; to be finished in any
// case.
bool zepi_symbol_table_key(struct zepi_key *key, struct zepi_digest native);

#endif
