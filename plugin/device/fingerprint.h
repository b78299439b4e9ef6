// SPDX-License-Identifier: MIT
#ifndef ZEPI_DEVICE_FINGERPRINT_H
#define ZEPI_DEVICE_FINGERPRINT_H

#include "cache/digest.h"
#include "cache/disk.h"

struct zepi_platform;

// What decides a driver's machine code beyond its version number: the contents of the driver's
// library and of the compiler libraries that it would use (compiler_files.h), settings of the
// environment that such compilers read, and for ze_cpu the features of this CPU. Part of every key
// of machine code that outlives the process, so that a compiler that was replaced behind the same
// version compiles again.
//
// These are some hundred megabytes. The disk cache remembers the digest of their contents by the
// identity of the files (device, inode, size, times of modification and of change), so that a
// process reads the contents only after one of them was touched.
struct zepi_fingerprint; // opaque

// Owned, or NULL without memory. Looks at no file.
struct zepi_fingerprint *zepi_fingerprint_create(void);
void zepi_fingerprint_destroy(struct zepi_fingerprint *fingerprint); // NULL is fine

// Computed at the first call for a platform, then kept. Thread-safe. The same in every process that
// would use the same compiler, whether or not it has been loaded yet. False where the compiler
// cannot be identified. `disk` remembers contents.
bool zepi_fingerprint_get(struct zepi_platform *platform, struct zepi_disk *disk,
                          struct zepi_digest *out_digest);

#endif
