// SPDX-License-Identifier: MIT
#ifndef ZEPI_DEVICE_COMPILER_IDENTITY_H
#define ZEPI_DEVICE_COMPILER_IDENTITY_H

#include "cache/disk/disk.h"
#include "device/compiler_libraries.h"

// The inputs that decide a driver's native code beside its version number: the driver's library and
// those of its compiler (compiler_libraries.h), settings of the environment that compilers read,
// and for a driver that executes on the CPU its features. Part of every disk key of native code, so
// that a compiler that was exchanged behind the same version compiles again.
//
// A compiler can be identified once it is loaded: when the driver comes up, or at the first
// compile. Then the process leaves a record of the libraries on disk; a process that only hits
// takes the identity from the record and loads nothing. A record is trusted while all its files are
// unchanged and no other file is loaded under one of their names. Else, where the compiler is not
// loaded yet, nothing is found on disk until the next compile makes identity and record again.
//
// Thread-safe. Owned by its platform.
struct zepi_compiler_identity; // opaque

// `driver_path` is borrowed and outlives the identity: the driver's library as the dynamic loader
// has it; "" is not known, and the compiler never identified. NULL without memory. Looks at no
// file.
struct zepi_compiler_identity *zepi_compiler_identity_create(const char *driver_path,
                                                             enum zepi_compiler_kind kind);
void zepi_compiler_identity_destroy(struct zepi_compiler_identity *identity); // NULL is fine

// `disk` has the record; NULL: there is none.
//
// Before a compile: the identity that this process knows already, that of the record in `disk`, or
// that of a compiler which is loaded. False: there is none.
bool zepi_compiler_identity_find(struct zepi_compiler_identity *identity, struct zepi_disk *disk,
                                 struct zepi_digest *out_digest);

// The identity of a compiler in another process (program/build/compiler.h), which counts from now
// on. That process has written the record.
void zepi_compiler_identity_note(struct zepi_compiler_identity *identity,
                                 struct zepi_digest digest);

// After a compile: the identity of the loaded libraries. The first call compares the record with
// that, and writes it anew if it differs. False: the compiler cannot be identified.
bool zepi_compiler_identity_make(struct zepi_compiler_identity *identity, struct zepi_disk *disk,
                                 struct zepi_digest *out_digest);

#endif
