// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_OPTIONS_H
#define ZE_CPU_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

// The ZE_CPU_ variables, read once on first use and constant from then on. See README.md.
struct cpu_options {
    const char *opencl;       // path of the OpenCL runtime; NULL: the one that is found (opencl.c)
    const char *code_folder;  // for the OpenCL runtime's code; NULL: none is kept
    const char *failures;     // NULL: failing is off
    const char *without;      // extensions and functions that the driver lacks; NULL: none
    uint32_t devices;         // 1 to 16
    uint32_t sub_devices;     // of each device; 0 or 2 to 16
    uint32_t timestamp_bits;  // of kernels, 16 to 64
    uint32_t allocation_mib;  // limit of one allocation that is not relaxed; 0: OpenCL's
    uint32_t limited_devices; // the first ones, which that limit is of; 16: all
    uint32_t build_ms;        // that a build of SPIR-V takes longer
    uint32_t reorder_seed;    // of the order of commands that nothing orders; 0: as submitted
    uint32_t memory_mib;      // of all devices together; 0: no limit
    bool reports_gpu;
    bool is_integrated; // devices share the host's memory
    bool has_peers;     // devices reach each other's memory
    bool appends_lists; // closed ones to immediate ones
    bool shares_memory; // device memory, with other processes
    bool has_pci;       // devices have addresses there
    bool copies_early;  // reads sources that are not the driver's while a copy is appended
    bool is_strict;     // refuses what is wrong, though Intel's driver takes it
    bool executes;
    bool counts;
    bool traces;
    bool lists_leaks;
};

const struct cpu_options *cpu_options(void);

// Whether the driver lacks the extension or function of this name.
bool cpu_options_lack(const char *name);

// Whether one of them needs calls to be counted, failed or traced.
bool cpu_options_have_switch(void);

#endif
