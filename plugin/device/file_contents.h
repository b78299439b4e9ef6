// SPDX-License-Identifier: MIT
#ifndef ZEPI_DEVICE_FILE_CONTENTS_H
#define ZEPI_DEVICE_FILE_CONTENTS_H

#include "cache/disk.h"
#include "device/compiler_files.h"

// One digest of the names and contents of some files. `disk` remembers it by the identities of the
// files. False if a file cannot be read, or without memory.
bool zepi_file_contents_get(const struct zepi_compiler_files *files, struct zepi_disk *disk,
                            struct zepi_digest *out_digest);

#endif
