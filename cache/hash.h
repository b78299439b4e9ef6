// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_HASH_H
#define ZEPI_CACHE_HASH_H

#include "core/sys.h"

// The one header of cache/ that includes uthash, and the rules for using it.
//
// - Keys are found by bits of a digest that is there already (HASH_FIND_BYHASHVALUE), never by
//   uthash's own hash function.
// - uthash would call exit() without memory. Here an addition that finds none leaves the table as
//   it was, and the element's handle with `hh.tbl == NULL`; zepi_hash_was_added asks that.
#define HASH_NONFATAL_OOM 1
#define uthash_malloc(size) zepi_sys_allocate(size)
#define uthash_free(memory, size) zepi_sys_free(memory)

#include <uthash.h>

static inline int zepi_hash_was_added(const UT_hash_handle *handle)
{
    return handle->tbl != NULL;
}

#endif
