// SPDX-License-Identifier: MIT
#ifndef ZEPI_LAUNCH_DISPATCH_MEMO_H
#define ZEPI_LAUNCH_DISPATCH_MEMO_H

#include "launch/target.h"

struct zepi_module;
struct zepi_queue;

// Remembers in a queue the targets of its last launches by name. The queue owns the memo; its
// `memo_mutex` guards it. The newest is compared first, then the few that a hash of name and values
// leads to. Targets from a translation unit hold as long as no unit comes or goes, no value is set
// on a unit's module and no cache is trimmed; they keep code alive, but no module, and are given up
// when the context's cache is full. Targets from a module hold nothing: they are found only by a
// launch that names it.

// Whether the same request was made before: then its target is in *out_dispatch. `module`: that of
// the launch or of its kernel, checked; NULL: its unit is asked.
bool zepi_dispatch_memo_find(struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                             struct zepi_module *module, struct zepi_dispatch *out_dispatch);

// Notes a target, found while units had this generation. Without memory nothing is noted.
void zepi_dispatch_memo_note(struct zepi_queue *queue, const zepi_launch_desc_t *desc,
                             struct zepi_module *module, uint64_t generation,
                             const struct zepi_dispatch *dispatch);

#endif
