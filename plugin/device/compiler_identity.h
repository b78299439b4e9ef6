// SPDX-License-Identifier: MIT
#ifndef ZEPI_DEVICE_COMPILER_IDENTITY_H
#define ZEPI_DEVICE_COMPILER_IDENTITY_H

#include "cache/disk/disk.h"
#include "core/mutex.h"

// All that decides a driver's native code beside its version: the driver's library and those of its
// compiler, settings of the environment that compilers read, and for a driver that executes on the
// CPU its features. Part of every key of native code in stores. A compiler is identified once it is
// loaded: when the driver comes up, or at the first compile. Then a record on the disk names its
// libraries; a process that only hits takes these as they are now and loads none of them.
//
// Thread-safe.
struct zepi_compiler_identity {
    const char *driver_path; // borrowed; as the dynamic loader has it, "": not known
    bool is_on_cpu;          // the compiler is an OpenCL runtime, else a graphics compiler
    struct zepi_mutex mutex; // guards the rest; held while files are looked at: others wait
    bool is_known;           // the digest is valid
    bool is_compiled;        // and that of a compiler which has compiled
    struct zepi_digest digest;
};

enum zepi_compiler_phase {
    ZEPI_BEFORE_COMPILE, // the record counts, or a compiler that is loaded
    ZEPI_AFTER_COMPILE,  // the loaded compiler counts; the record is written anew if it differs
};

// False: the compiler cannot be identified. `disk` has the record; NULL: there is none.
bool zepi_compiler_identity_get(struct zepi_compiler_identity *identity, struct zepi_disk *disk,
                                enum zepi_compiler_phase phase, struct zepi_digest *out_digest);

// The identity of a compiler in another process (program/build/compiler.h), which counts from now
// on. That process has written the record.
void zepi_compiler_identity_note(struct zepi_compiler_identity *identity,
                                 struct zepi_digest digest);

#endif
