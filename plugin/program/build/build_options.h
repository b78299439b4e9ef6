// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_BUILD_BUILD_OPTIONS_H
#define ZEPI_PROGRAM_BUILD_BUILD_OPTIONS_H

#include "device/context.h"

#include <stdbool.h>

// Whose the variables in an executable's code are.
enum zepi_variables {
    ZEPI_VARIABLES_SHARED, // those of all modules of the same build
    ZEPI_VARIABLES_OWN,    // the module's: code that has some is in no cache of handles
};

// How a module is compiled, linked or built, read from the caller's description. Lives on the stack
// of one call.
struct zepi_build_options {
    // Canonical: white space outside quotes is one space, with -g for debug. In inline_text or
    // owned_text.
    const char *text;
    char *owned_text; // NULL: none
    size_t length;
    zepi_native_policy_t native_policy;
    zepi_link_method_t link_method;
    bool is_link_method_forced; // the caller said so, not the environment
    zepi_build_log_fn *log;     // NULL: none
    void *log_data;
    bool logs_successes;
    enum zepi_variables variables; // shared, unless the caller of `init` sets it
    const zepi_device_t *devices;  // borrowed from the caller; NULL: all
    uint32_t device_count;
    char inline_text[64];
};

// `desc` may be NULL. On success to be finished.
zepi_result_t zepi_build_options_init(struct zepi_build_options *options,
                                      const zepi_build_desc_t *desc);
void zepi_build_options_finish(struct zepi_build_options *options);

// The text that the driver gets for a device: with the option for large allocations where it has
// them (device/README.md). To be freed; NULL: out of memory.
char *zepi_build_options_for(const struct zepi_build_options *options,
                             const struct zepi_device *device);

// A part of a device that is named has the code of the whole.
static inline bool zepi_build_options_want(const struct zepi_build_options *options,
                                           const struct zepi_context *context,
                                           uint32_t device_index)
{
    for (uint32_t i = 0; i < options->device_count; i++) {
        if (zepi_context_device_index(context, options->devices[i]) == device_index)
            return true;
    }
    return options->device_count == 0;
}

// Writes `text` in canonical form to `out`, which has room for strlen(text) + 1. Returns the
// length, or SIZE_MAX for a quote that is not closed.
size_t zepi_build_options_normalize(const char *text, char *out);

#endif
