// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_SPEC_H
#define ZEPI_TOOL_SPEC_H

#include "../host.h"

// Specialization constants on the command line.
//
//     --spec ID=VALUE[:TYPE]            one constant; TYPE is the declared one if left out
//     --spec NAME=V1,V2,...[:TYPE]      a composite whose elements --layout names
//     --spec NAME=@FILE                 the same, its bytes from a file
//     --layout NAME=FIRST..LAST         elements with these ids, one behind the other
//     --layout NAME=ID,ID,...
#define SPEC_HELP                                                                                  \
    "  --spec ID=VALUE[:TYPE]     set a specialization constant; TYPE, if given, must be the\n"    \
    "                             declared one: bool i8 u8 i16 u16 i32 u32 i64 u64 f16 f32 f64\n"  \
    "  --spec NAME=V1,V2,...[:TYPE]  set a composite, element by element\n"                        \
    "  --spec NAME=@FILE          set a composite from the bytes of a file\n"                      \
    "  --layout NAME=FIRST..LAST  what the composite is made of: constants with these ids, one\n"  \
    "  --layout NAME=ID,ID,...    behind the other, each at its natural alignment\n"

#define SPEC_MAX 256

struct spec_options {
    const char *specs[SPEC_MAX]; // borrowed from the command line
    const char *layouts[SPEC_MAX];
    uint32_t spec_count;
    uint32_t layout_count;
};

// The options of the command line, for a command's own list. `user` is a struct spec_options.
int spec_add(void *user, const char *text);
int spec_add_layout(void *user, const char *text);
#define SPEC_OPTIONS(options)                                                                      \
    {.name = "spec", .take = spec_add, .user = options},                                           \
    {                                                                                              \
        .name = "layout", .take = spec_add_layout, .user = options                                 \
    }

// A module of the image at `path` with the layouts and values in force. Returns an exit code.
int spec_create_module(const struct spec_options *options, const struct host_device *host,
                       const char *path, zepi_module_t *out_module);

#endif
