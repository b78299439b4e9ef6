// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_ARGUMENT_H
#define ZEPI_TOOL_ARGUMENT_H

#include "../host.h"
#include "../scalar.h"

// Kernel arguments on the command line.
#define ARGUMENT_HELP                                                                              \
    "  --arg TYPE:VALUE           a scalar, f32:1.5\n"                                             \
    "  --arg local:BYTES          local memory\n"                                                  \
    "  --arg buffer:TYPE:COUNT[,fill=VALUE|,ramp=START:STEP|,file=FILE][,out[=FILE]]\n"            \
    "                             COUNT elements of device memory, zeros unless filled; printed\n" \
    "                             after the launch (out), or written to a file as bytes\n"

struct argument {
    const char *text; // borrowed from the command line
    zepi_argument_kind_t kind;
    zepi_scalar_type_t type;
    uint8_t value[8];  // of a scalar
    size_t size_bytes; // of local memory and buffers
    uint64_t count;    // of a buffer's elements
    void *memory;      // of a buffer
    bool is_output;
    const char *output; // file, NULL: terminal
};

// All of these return exit codes after a message.

// Reads the text, and makes and fills a buffer.
int argument_init(struct argument *argument, const struct host_device *host, const char *text);
void argument_finish(struct argument *argument, const struct host_device *host);

zepi_argument_t argument_for_launch(const struct argument *argument);

// Writes a buffer with a file name of its own.
int argument_write(const struct argument *argument);

#endif
