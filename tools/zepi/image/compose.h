// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_COMPOSE_H
#define ZEPI_TOOL_COMPOSE_H

#include "../host.h"
#include "spec.h"

// The module that zepi build makes of its files.
enum compose_mode {
    COMPOSE_BUILD,   // one file to an executable
    COMPOSE_COMPILE, // one file to an object
    COMPOSE_LINK,    // objects, or SPIR-V that is compiled first, to an executable
    COMPOSE_JOIN,    // files of one state beside each other
    COMPOSE_SHOW,    // one file of any state as it is
};

// One file as an input, or native code as an executable, with values set; several joined. Returns
// an exit code.
int compose_input(const struct host_device *host, enum compose_mode mode,
                  const struct spec_options *spec, uint32_t file_count, const char *const *files,
                  zepi_module_t *out_module);

// Compiles, links or builds. COMPOSE_LINK reads the files itself. Returns an exit code; the
// plugin's last error is left to be said with *out_failed, which names a file or "link", and is not
// written if everything has been said.
int compose_output(const struct host_device *host, enum compose_mode mode, zepi_module_t input,
                   uint32_t file_count, const char *const *files, const zepi_build_desc_t *desc,
                   const char **out_failed, zepi_module_t *out_module);

#endif
