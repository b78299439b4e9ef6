// SPDX-License-Identifier: MIT
#ifndef ZEPI_DEVICE_FINGERPRINT_H
#define ZEPI_DEVICE_FINGERPRINT_H

#include "cache/digest.h"

struct zepi_platform;

// What decides a driver's machine code beyond its version number: the contents of the compiler
// libraries that it would use, and for ze_cpu the features of this CPU. Part of every key of
// machine code, so that a compiler that was replaced behind the same version compiles again.
struct zepi_fingerprint; // opaque

// Owned, or NULL without memory. Looks at no file.
struct zepi_fingerprint *zepi_fingerprint_create(void);
void zepi_fingerprint_destroy(struct zepi_fingerprint *fingerprint); // NULL is fine

// Computed at the first call for a platform, then kept. Thread-safe. The same in every process that
// would use the same compiler, whether or not it has been loaded yet.
struct zepi_digest zepi_fingerprint_get(struct zepi_platform *platform);

#endif
