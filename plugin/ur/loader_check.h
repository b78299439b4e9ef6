// SPDX-License-Identifier: MIT
#ifndef ZEPI_UR_LOADER_CHECK_H
#define ZEPI_UR_LOADER_CHECK_H

#include <stdbool.h>

// Unified Runtime's tables changed their layout between releases 2026.0 and 2026.2 of oneAPI, and
// the version number stayed 0.12. A loader of the older layout would call wrong functions, so it is
// told by its own code: it exports urKernelSetArgValue, which is gone since, or it does not ask for
// the table of urGetEventExpProcAddrTable, which is new.

// Whether the module that `caller` lies in may have this adapter's tables. If not, says why: to the
// log, and to stderr, because the host only sees that there is one adapter less.
bool zepi_ur_loader_check(const void *caller);

// Whether the tables go to the loader inside DPC++'s runtime, whose library is libsycl: told by the
// last caller that was noted.
void zepi_ur_loader_note(const void *caller);
bool zepi_ur_loader_is_sycl(void);

#endif
