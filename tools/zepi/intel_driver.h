// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_INTEL_DRIVER_H
#define ZEPI_TOOL_INTEL_DRIVER_H

#include <stdbool.h>

// Intel's newest Level Zero driver on a machine without an Intel GPU: tools/drm_shim stands in for
// the kernel's driver. A system whose own driver is at least as new loads it by itself (LD_PRELOAD
// names the shim); on any other one a program starts through the dynamic loader of the folder that
// tools/setup --intel-driver fills, with the C library that lies there.

// Takes the word behind --intel-driver=, a product of tools/drm_shim/products.h, or several with
// commas between them; NULL: none. Prints the products and ends the process for "list". False after
// a message if there is no such product.
bool intel_driver_choose_products(const char *names);

// Whether this process runs so.
bool intel_driver_is_here(void);

// The file of that driver, in `path` of PATH_MAX bytes; "" if it is not there.
void intel_driver_file(char *path);

// Replaces this process by a program on that driver: a file or a name in PATH, and its arguments.
// Scripts start by their interpreter. Returns an exit code after a message.
int intel_driver_exec(char *const command[]);

// Replaces this process by the same one on that driver; `arguments` are those of main(), unchanged.
int intel_driver_enter(char *const arguments[]);

#endif
