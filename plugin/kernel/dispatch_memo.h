// SPDX-License-Identifier: MIT
#ifndef ZEPI_KERNEL_DISPATCH_MEMO_H
#define ZEPI_KERNEL_DISPATCH_MEMO_H

#include "kernel/target.h"

struct zepi_queue;

// Remembers in a queue what its last launches by name found in translation units: the same question
// has the same answer as long as no unit comes or goes and no value is set on a unit's module. The
// newest is compared first. A queue holds its context anyway, and a target holds no module.

struct zepi_dispatch_memo; // a queue's; opaque

// A new reference to the target of the same question, or NULL.
struct zepi_held_target *zepi_dispatch_memo_find(struct zepi_queue *queue,
                                                 const zepi_launch_desc_t *desc);

// Notes an answer that was found while units had this generation. Without memory nothing is noted.
void zepi_dispatch_memo_note(struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                             uint64_t generation, struct zepi_held_target *target);

void zepi_dispatch_memo_destroy(struct zepi_dispatch_memo *memo); // NULL is fine

#endif
