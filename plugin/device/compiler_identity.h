// SPDX-License-Identifier: MIT
#ifndef ZEPI_DEVICE_COMPILER_IDENTITY_H
#define ZEPI_DEVICE_COMPILER_IDENTITY_H

#include "cache/disk/disk.h"
#include "core/mutex.h"

enum zepi_compiler_phase {
    ZEPI_NOT_IDENTIFIED,
    ZEPI_BEFORE_COMPILE, // the record counts, or a compiler that is loaded
    ZEPI_AFTER_COMPILE,  // the loaded compiler counts; the record is written anew if it differs
};

// All that decides a driver's native code beside its version (README.md): part of every key of
// native code in stores. Thread-safe.
struct zepi_compiler_identity {
    const char *driver_path;        // borrowed; as the dynamic loader has it, "": not known
    bool is_on_cpu;                 // the compiler is an OpenCL runtime, else a graphics compiler
    struct zepi_mutex mutex;        // guards the rest; held while files are looked at: others wait
    enum zepi_compiler_phase known; // since when the digest is valid
    struct zepi_digest digest;
};

// False: the compiler cannot be identified. `disk` has the record; NULL: there is none.
bool zepi_compiler_identity_get(struct zepi_compiler_identity *identity, struct zepi_disk *disk,
                                enum zepi_compiler_phase phase, struct zepi_digest *out_digest);

// The identity of a compiler in another process (program/build/compiler.h), which counts from now
// on. That process has written the record.
void zepi_compiler_identity_note(struct zepi_compiler_identity *identity,
                                 struct zepi_digest digest);

#endif
