// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_COMPILER_REQUEST_H
#define ZEPI_PROGRAM_COMPILER_REQUEST_H

#include "device/compiler_libraries.h"
#include "device/device.h"
#include "program/compiler/message.h"

#include <level_zero/ze_api.h>

// Requests to a compiler process, and its replies.

// Descriptors of zeModuleCreate, which lie in the message that they were taken from.
struct zepi_compiler_request {
    // Of a device: all that decides its native code.
    const char *driver_library;
    uint32_t driver_version;
    uint32_t vendor;
    uint32_t device;
    uint32_t ip_version;
    ze_module_desc_t desc;
    // Owned, for `desc`: a list of one or, of a program, of all modules.
    ze_module_program_exp_desc_t program;
    size_t *sizes;
    const uint8_t **modules;
    const char **flags;
    ze_module_constants_t *constants;
    const ze_module_constants_t **constant_lists;
};

// SPIR-V for a device, as zeModuleCreate takes it: one module, or a program's. Each value of a
// specialization constant has 8 bytes to read, zeros behind its own.
void zepi_compiler_request_put(struct zepi_message *message, const struct zepi_device *device,
                               const ze_module_desc_t *desc);
// False: the message is bad, or there is no memory. To be finished in any case.
bool zepi_compiler_request_take(struct zepi_message *message,
                                struct zepi_compiler_request *request);
void zepi_compiler_request_finish(struct zepi_compiler_request *request);

struct zepi_compiler_reply {
    const char *refusal; // borrowed; "": the driver was asked
    ze_result_t ze;      // of zeModuleCreate
    // Borrowed from the message, as all of these.
    const char *log;
    size_t log_bytes; // without the terminating zero
    const void *native;
    size_t native_bytes;                             // 0: the driver returns none
    const struct zepi_compiler_libraries *libraries; // NULL: they are not known
};

void zepi_compiler_reply_put(struct zepi_message *message, const struct zepi_compiler_reply *reply);
// False: the message is bad.
bool zepi_compiler_reply_take(struct zepi_message *message, struct zepi_compiler_reply *reply);

#endif
