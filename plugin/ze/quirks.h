// SPDX-License-Identifier: MIT
#ifndef ZEPI_ZE_QUIRKS_H
#define ZEPI_ZE_QUIRKS_H

#include "core/status.h"
#include "ze/ze_optional.h"

// The only files of the plugin that know drivers by name (tools/layers checks it). A quirk is what
// a driver does, or leaves out, that a caller does not expect from the specification; QUIRKS.md has
// them all. Most are avoided on every driver, for next to nothing. A quirk with a bit is avoided
// only where the driver has it: its price is felt, or the answer would be wrong elsewhere. Comments
// outside name a quirk by its name there.

enum zepi_quirk_bit {
    ZEPI_QUIRK_EARLY_COPIES = 1u << 0,
    ZEPI_QUIRK_SLOW_TIMED_STATUS = 1u << 1,
    ZEPI_QUIRK_TIMES_STAY_ON_DEVICE = 1u << 2,
    ZEPI_QUIRK_UNTOLD_NATIVE_FORMAT = 1u << 3,
    ZEPI_QUIRK_UNTOLD_ASSERTS = 1u << 4,
    ZEPI_QUIRK_PROCESSOR_COPIES = 1u << 5,
    ZEPI_QUIRK_KEPT_HOST_PAGES = 1u << 6,
    ZEPI_QUIRK_WAITS_FOR_ENGINE = 1u << 7,
};

// Versions of GPUs (`ip_version`) from which on some quirks differ.
#define ZEPI_QUIRK_IP_XE_HPC (12u << 22 | 60u << 14)
#define ZEPI_QUIRK_IP_XE2 (20u << 22)

// A driver's workarounds, chosen when it comes up, and constant after that.
struct zepi_quirks {
    uint32_t bits;   // enum zepi_quirk_bit: those in force
    bool is_on_cpu;  // zepi's own driver: executes on the CPU, and never gets code of GPUs
    char names[160]; // of those in force, separated by commas
};

// Chooses by the driver's UUID, functions and version, and then as ZEPI_QUIRKS says.
// ZEPI_ERROR_INVALID_VALUE: that names no quirk with a bit. Under the lock of the bring-up.
zepi_result_t zepi_quirks_choose(const ze_driver_properties_t *properties,
                                 const struct zepi_ze_optional *optional,
                                 struct zepi_quirks *out_quirks);

// The steps of that, for tests. `is_intels`: the driver is Intel's; `build` is the last part of its
// version. `text` is a value of ZEPI_QUIRKS, "" for none.
uint32_t zepi_quirks_find(bool is_intels, uint32_t build);
zepi_result_t zepi_quirks_force(const char *text, uint32_t *bits);

// ---- Names that drivers give, or that messages give for drivers ----

// Listed beside the kernels of a module that takes global addresses (quirk hidden-kernel).
#define ZEPI_QUIRK_HIDDEN_KERNEL "Intel_Symbol_Table_Void_Program"

// Writes why no driver comes up: the reason of each library that ZE_ENABLE_ALT_DRIVERS names, as
// the dynamic loader or ze_cpu has it, or advice if it names none.
void zepi_quirks_explain_no_driver(char *text, size_t size);

// Advice for a program that asks for a GPU, where the driver for the CPU alone is there.
#define ZEPI_DRIVER_GPU_HINT                                                                       \
    "zepi has a CPU alone (ze_cpu); zepi exec --cpu=gpu, or ZE_CPU_TYPE=gpu, presents it as a GPU"

#endif
