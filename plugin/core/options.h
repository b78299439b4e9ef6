// SPDX-License-Identifier: MIT
#ifndef ZEPI_CORE_OPTIONS_H
#define ZEPI_CORE_OPTIONS_H

#include <zepi/zepi.h>

#include <stdbool.h>
#include <stdint.h>

// The settings of the environment, read once a process; constant after that, for all threads.

enum zepi_log_level {
    ZEPI_LOG_OFF,
    ZEPI_LOG_NOTICE, // the default: no driver, a disk cache that is not used
    ZEPI_LOG_ERROR,
    ZEPI_LOG_INFO,
    ZEPI_LOG_DEBUG,
};

struct zepi_options {
    enum zepi_log_level log_level;  // ZEPI_LOG
    bool cache_is_on;               // ZEPI_CACHE
    bool disk_is_on;                // ZEPI_CACHE_DISK
    char cache_folder[4096];        // ZEPI_CACHE_DIR, XDG_CACHE_HOME, HOME; "" : none
    char read_only_folders[4096];   // ZEPI_CACHE_READ_ONLY_DIRS, see cache/disk/disk.h
    uint64_t memory_bytes;          // ZEPI_CACHE_MEMORY_BYTES
    uint64_t memory_entries;        // ZEPI_CACHE_MEMORY_ENTRIES
    uint64_t binary_bytes;          // ZEPI_CACHE_BINARY_BYTES
    uint64_t disk_bytes;            // ZEPI_CACHE_DISK_BYTES
    bool newer_functions;           // ZEPI_NEWER_FUNCTIONS: use Level Zero after 1.4
    zepi_link_method_t link_method; // ZEPI_LINK, for modules that leave it open
    bool has_compiler_processes;    // ZEPI_COMPILER=process, see program/compiler/compiler.h
    uint64_t compiler_seconds;      // ZEPI_COMPILER_SECONDS, for a build in such a process
    bool usm_pool;                  // ZEPI_USM_POOL, see memory/usm_pool.h
    bool large_allocations;         // ZEPI_LARGE_ALLOCATIONS, see device/README.md
    bool has_sysman_devices;        // ZES_ENABLE_SYSMAN, Level Zero's: devices manage the system
    char stats[4096];               // ZEPI_STATS: "stderr" or a path that is absolute; "": none
    char ur_layout[8];              // ZEPI_UR_LAYOUT, a release of DPC++; "": the loader's
    char platform_name[256];        // ZEPI_PLATFORM_NAME, for Unified Runtime
    char quirks[256];               // ZEPI_QUIRKS, for tests, see ze/quirks.h

    // The store that machines share, see cache/shared/shared.h; "": none.
    char shared[1024];               // ZEPI_CACHE_SHARED
    char shared_key_file[4096];      // ZEPI_CACHE_SHARED_KEY_FILE
    char shared_password_file[4096]; // ZEPI_CACHE_SHARED_PASSWORD_FILE
    uint64_t shared_seconds;         // ZEPI_CACHE_SHARED_SECONDS
};

// Never NULL. A value that is not understood is reported on stderr, once, and the default counts.
const struct zepi_options *zepi_options(void);

// All of them, with their values as text.
const zepi_option_t *zepi_options_list(uint32_t *out_count);

#endif
