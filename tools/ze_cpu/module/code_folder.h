// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_CODE_FOLDER_H
#define ZE_CPU_CODE_FOLDER_H

#include "cache/key.h"
#include "module.h"

// The folder that ZE_CPU_CODE_FOLDER names: native binaries of modules, for processes that build
// equal ones. Its files are those of zepi's cache (cache/disk).

// The whole of what the code of a module depends on; each input has a source. The caller finishes
// the key; without a folder, or without memory, it is not sealed.
void cpu_code_key_init(struct zepi_key *key, const struct cpu_module *module,
                       const struct cpu_input *inputs, struct cpu_source *const *sources);

// Makes the module's programs from the file of the key, and adds to the log what the build said.
// False: there is no such file, or one that the OpenCL runtime refuses, as on another processor.
bool cpu_code_load(const struct zepi_key *key, struct cpu_module *module, struct cpu_log *log);

// Keeps the code of a module that was built, and its log. Nothing happens if that cannot be.
void cpu_code_keep(const struct zepi_key *key, const struct cpu_module *module,
                   const struct cpu_log *log);

#endif
