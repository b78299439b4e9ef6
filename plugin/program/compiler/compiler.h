// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_COMPILER_COMPILER_H
#define ZEPI_PROGRAM_COMPILER_COMPILER_H

#include "core/status.h"

#include <stddef.h>

struct zepi_device;

// The driver's compiler in processes of its own (ZEPI_COMPILER=process): its crash is a failure of
// a build. Processes stay for the next build, as many as builds ran at one time, at most one a
// core, unless they wait for too long (ZEPI_COMPILER_IDLE_SECONDS) or keep too much memory
// (ZEPI_COMPILER_BYTES); dlclose ends them, and the end of this process. Any thread; as many builds
// as there are threads.

#define ZEPI_COMPILER_PROCESSES_MAX 64
// How many builds can run at one time, at most that; 1 if the compiler is in this process.
unsigned zepi_compiler_limit(void);

struct zepi_compiled {
    ze_result_t ze;
    char *log; // owned; NULL: none
    size_t log_bytes;
    void *native; // owned; NULL: the build failed, or the driver returns none
    size_t native_bytes;
};

// zeModuleCreate with SPIR-V, one module or a program's, in a compiler process. `name` is its name
// in errors. Success is a result of the driver, which may be a failure.
// ZEPI_ERROR_COMPILE_FAILURE: the process died of it, or the time was up (ZEPI_COMPILER_SECONDS).
// ZEPI_ERROR_COMPILER_UNAVAILABLE: there is no process, or it was killed, which says nothing about
// the module. A failure may have a log, too. To be finished in any case.
zepi_result_t zepi_compiler_compile(const struct zepi_device *device, const ze_module_desc_t *desc,
                                    const char *name, struct zepi_compiled *out_compiled);
void zepi_compiled_finish(struct zepi_compiled *compiled);

#endif
