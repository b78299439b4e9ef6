// SPDX-License-Identifier: MIT
#ifndef ZEPI_CACHE_SHARED_SHARED_LIBRARY_H
#define ZEPI_CACHE_SHARED_SHARED_LIBRARY_H

#include "cache/shared/shared.h"

// Opens the library of the store, which lies beside the core: hiredis and libcrypto are loaded by
// processes alone that have such a store. NULL, and the reason as a sentence: there is none. Its
// one symbol has zepi's version in its name, so that one of another version is not used.
const struct zepi_shared_library *
zepi_shared_library_open(char out_refusal[ZEPI_SHARED_TEXT_BYTES]);
void zepi_shared_library_close(void);

#endif
