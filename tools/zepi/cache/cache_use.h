// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_CACHE_USE_H
#define ZEPI_TOOL_CACHE_USE_H

#include "../host.h"
#include "cache/disk/disk.h"

#include <cjson/cJSON.h>

// Whether a device of this machine would use the files on the disk: keys of builds name their
// device, driver and compiler. Another build, of a small kernel in a folder of its own, gives those
// of the first device now.
struct cache_use {
    struct zepi_disk *disk; // owned: the small build, and the process' record of the compiler
    uint8_t *key;           // owned: of the small build
    size_t key_size;
    zepi_device_info_t device;
};

// Returns an exit code after a message. To be finished in any case.
int cache_use_init(struct cache_use *use, enum host_driver driver);
void cache_use_finish(struct cache_use *use);

// Files that the device would not use, by the reason.
struct cache_refusals {
    const struct cache_use *use;
    cJSON *list;  // a reason, and its number of files
    size_t codes; // files with native code; others are records of compilers
    size_t refused;
};

// A cache_note (cache_move.h), whose user is a struct cache_refusals.
void cache_note_refusal(void *user, const uint8_t *key, size_t key_size);

#endif
