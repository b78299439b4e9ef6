// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_LINK_LINK_BUILD_H
#define ZEPI_PROGRAM_LINK_LINK_BUILD_H

#include "program/link/link_set.h"

// Any thread. The linked code of a set, from the context's cache or linked now. *out_result is a
// new reference to a result that succeeded; a failure is noted, and its log is the thread's last
// build log.
zepi_result_t zepi_link_set_get_code(const struct zepi_link_set *set,
                                     const struct zepi_build_options *options,
                                     struct zepi_build_result **out_result);

#endif
