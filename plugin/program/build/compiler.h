// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_BUILD_COMPILER_H
#define ZEPI_PROGRAM_BUILD_COMPILER_H

#include "cache/digest.h"
#include "program/build/text.h"

struct zepi_device;

// The driver's compiler in a process of its own, the program zepi-compiler (program/compiler/), one
// for each build (ZEPI_COMPILER=process): its crash is a failure of the build.

// zeModuleCreate there, with SPIR-V of one module or of a program (zepi_ze_module_describe). `name`
// names it in errors.
// *out_native is owned; NULL: the driver returns no native code. Appends to `log` in any case.
// Fails as the driver does, or with ZEPI_ERROR_COMPILE_FAILURE: the process died of it, or the time
// was up (ZEPI_COMPILER_SECONDS); ZEPI_ERROR_COMPILER_UNAVAILABLE: it did not come up or was
// killed, which tells nothing of the module. Any thread.
zepi_result_t zepi_compiler_compile(const struct zepi_device *device,
                                    const ze_module_program_exp_desc_t *sources, bool is_program,
                                    const char *name, struct zepi_text *log, void **out_native,
                                    size_t *out_native_bytes);

// ---- Between the two processes, which are of one version of zepi ----

// A file in memory, the process' standard input, has the request: this head, the key of the device
// (zepi_key_add_device), the sizes of the modules, and for each the number of its constants, their
// values of 8 bytes, their ids, the build flags as text and the SPIR-V. Each part is filled up to a
// multiple of 8 bytes. The process trusts it.
struct zepi_compiler_request {
    uint64_t device_bytes;
    uint32_t module_count;
    bool is_program; // even if it is one module
};

#define ZEPI_COMPILER_ROUNDED(size) (((size) + 7) / 8 * 8)

// The reply, behind the request, with the log and the native code behind it. The host checks the
// lengths.
struct zepi_compiler_reply {
    uint8_t is_up;   // and builds
    uint8_t is_done; // what follows is valid
    uint8_t is_identified;
    struct zepi_error error;     // its result is that of the build
    struct zepi_digest identity; // of the compiler
    uint64_t log_bytes;
    uint64_t native_bytes;
};

#endif
