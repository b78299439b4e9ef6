// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_PAGES_H
#define ZE_CPU_PAGES_H

#include "allocation.h"

// The pages that an allocation is made of: zeroed, and no one else's, so that a small overrun harms
// nothing. With ZE_CPU_STRICT they hold a pattern, the part behind the allocation's end is looked
// at when they go, and an inaccessible page lies behind them.

// Maps pages for size_bytes, with these access rights; fills address, mapped_bytes, offset and
// file. False without memory.
bool cpu_pages_map(struct cpu_allocation *allocation, size_t alignment, int rights);

// Of pages that were mapped by this. Ends the process if something was written behind the
// allocation's end.
void cpu_pages_unmap(const struct cpu_allocation *allocation);

#endif
