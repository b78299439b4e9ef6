// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_SYMBOLS_H
#define ZEPI_TOOL_SYMBOLS_H

#include "image_file.h"

#include <cjson/cJSON.h>

// Imports and exports of a file. SPIR-V says them. Native code does not: the linkage table that was
// kept on the disk when it was compiled says them, of code that was linked those of each piece, but
// for what the pieces resolve among each other.

// Adds each symbol as {name, linkage, kind, file} to the array. Returns false if of some piece of
// the code they are unknown.
bool symbols_describe(const struct file_bytes *file, const char *path, cJSON *array);

// Whether the file is native code that is known to be an object's.
bool symbols_is_object(const struct file_bytes *file);

#endif
