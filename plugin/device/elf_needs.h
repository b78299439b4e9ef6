// SPDX-License-Identifier: MIT
#ifndef ZEPI_DEVICE_ELF_NEEDS_H
#define ZEPI_DEVICE_ELF_NEEDS_H

#include <stdbool.h>
#include <stddef.h>

// Which other libraries a shared library asks the dynamic loader for, read from its file: DT_NEEDED
// and the folders of DT_RUNPATH or DT_RPATH. The file is not mapped, since one that is cut short
// meanwhile would kill the process, and nothing in it is believed before it is checked.

#define ZEPI_ELF_NAME_BYTES 128
#define ZEPI_ELF_FOLDERS_BYTES 1024

struct zepi_elf_needs {
    char folders[ZEPI_ELF_FOLDERS_BYTES]; // as written there, with $ORIGIN; "" if there are none
    bool is_rpath;                        // they are searched before LD_LIBRARY_PATH
};

// Calls `visit` with each needed name in the order of the file, until it returns false. Returns
// false if `fd` is no shared library of 64 bits and this byte order, or is damaged; what was
// visited before that stays. Names and folder lists too long for the structures are left out.
bool zepi_elf_read_needs(int fd, struct zepi_elf_needs *out_needs,
                         bool (*visit)(void *user, const char *name), void *user);

#endif
