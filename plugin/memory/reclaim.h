// SPDX-License-Identifier: MIT
#ifndef ZEPI_MEMORY_RECLAIM_H
#define ZEPI_MEMORY_RECLAIM_H

#include "ze/ze.h"

#include <stdbool.h>

struct zepi_context;

// How long an allocation that would fail waits for a queue whose commands may use memory that was
// freed.
#define ZEPI_RECLAIM_PATIENCE_NS UINT64_C(500000000)

// Around every allocation of the driver's memory, and what takes much of it, command lists and
// modules: what the host gave up and commands are done with does not make it fail, nor do the lists
// of released queues.
//
//     unsigned attempt = 0;
//     do
//         ze = ...;
//     while (zepi_reclaim(context, ze, &attempt));
//
// True: the driver lacked memory, the context has given back what no command uses, and the driver
// is to be asked again. That happens once, and, while freed memory is left that commands may use,
// once more after a wait. Not under a lock.
bool zepi_reclaim(struct zepi_context *context, ze_result_t ze, unsigned *attempt);

#endif
