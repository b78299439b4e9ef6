// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_NATIVE_KEY_TAGS_H
#define ZEPI_PROGRAM_NATIVE_KEY_TAGS_H

// Fields of the keys that builds have in the caches and on the disk. Constants: a change of their
// meaning or order is a new version.
#define ZEPI_KEY_VERSION 2

enum zepi_key_tag {
    ZEPI_KEY_KIND = 1,     // ZEPI_KEY_KIND_OF the state, with how it was linked
    ZEPI_KEY_FORMAT,       // of the image
    ZEPI_KEY_IMAGE,        // digest of its bytes
    ZEPI_KEY_VALUE,        // number: SpecId; each value that is not the image's own default
    ZEPI_KEY_OPTIONS,      // canonical
    ZEPI_KEY_DEVICE_INDEX, // handles: of the context's devices
    ZEPI_KEY_VENDOR,       // code: the rest
    ZEPI_KEY_DEVICE,
    ZEPI_KEY_IP_VERSION,
    ZEPI_KEY_DRIVER,
    ZEPI_KEY_DRIVER_VERSION,
    ZEPI_KEY_COMPILER, // on disk: its identity
    ZEPI_KEY_CODE,     // kernels: id of the code
    ZEPI_KEY_NAME,     // kernels
    ZEPI_KEY_MEMBERS,  // link sets: how many pieces of code follow, then the key of each
    ZEPI_KEY_BUILD,    // on disk: the key in memory
    ZEPI_KEY_LARGE,    // compiled for large allocations; not there if not
    ZEPI_KEY_LOOKUP,   // of launches by name
};

// Kinds of builds: what a module is afterwards, and linkage tables of native code.
#define ZEPI_KEY_KIND_OF(state) ((uint32_t)(state)-1) // object: 1, executable: 2
#define ZEPI_KEY_KIND_SYMBOLS 3

#endif
