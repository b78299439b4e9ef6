// SPDX-License-Identifier: MIT
#ifndef ZEPI_LAUNCH_SEARCH_STEPS_H
#define ZEPI_LAUNCH_SEARCH_STEPS_H

#include "launch/kernel_search.h"

// The steps of a search: the selector is asked; then the module that the launch names is searched,
// or the unit's executables, its objects and its input. On success the search has found a kernel.
zepi_result_t zepi_kernel_search_run(struct zepi_kernel_search *search);

#endif
