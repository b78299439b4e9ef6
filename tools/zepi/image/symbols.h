// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_SYMBOLS_H
#define ZEPI_TOOL_SYMBOLS_H

#include "image_file.h"

#include <cjson/cJSON.h>

// Imports and exports of a file. SPIR-V declares them. Native code does not: they are in the
// linkage table that was kept on the disk when it was compiled; for linked code in those of its
// pieces, without the symbols that the pieces resolve among each other.

// Adds each symbol as {name, linkage, kind, file} to the array. Returns false if of some piece of
// the code they are unknown.
bool symbols_describe(const struct file_bytes *file, const char *path, cJSON *array);

// Whether the file is native code that is known to be an object's.
bool symbols_is_object(const struct file_bytes *file);

#endif
