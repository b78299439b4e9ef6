// SPDX-License-Identifier: MIT
#ifndef ZEPI_KERNEL_DISPATCH_MEMO_H
#define ZEPI_KERNEL_DISPATCH_MEMO_H

#include "kernel/dispatch.h"

// Remembers in a queue what its last dispatch found. A queue holds its context anyway, so that the
// kernel here keeps nothing alive that would be gone without it, but for the kernel's module.

// A new reference to the kernel of the same question, or NULL.
struct zepi_kernel *zepi_dispatch_memo_find(struct zepi_queue *queue,
                                            const zepi_launch_desc_t *desc);

// Notes the answer, found while units had this generation. Lack of memory, or a selector, notes
// nothing.
void zepi_dispatch_memo_note(struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                             uint64_t generation, struct zepi_kernel *kernel);

#endif
