// SPDX-License-Identifier: MIT
#ifndef DRM_SHIM_PROGRAM_H
#define DRM_SHIM_PROGRAM_H

#include <stddef.h>

// The program's own file. /proc/self/exe names the dynamic loader where that was started with the
// program as its argument, and many programs find their files beside themselves.

// NULL: `path` is not /proc/self/exe, or that names the program already.
const char *shim_program_instead_of(const char *path);

#endif
