// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_H
#define ZE_CPU_H

#include <stdint.h>

// Test control of libze_cpu.so.1. A test that wants these opens the library with dlopen (the loader
// has the same one open under the same path) and looks them up with dlsym. Counting and failing
// need the wrapper tables, which are installed when the loader asks for tables and at least one of
// ZE_CPU_FAIL (an empty value will do), ZE_CPU_COUNT, ZE_CPU_TRACE or ZE_CPU_LEAKS is set in the
// environment; otherwise zeCpuSetFail answers ZE_CPU_INACTIVE and counts stay 0.
//
// All functions may be called by any thread at any time.

#ifdef __cplusplus
extern "C" {
#endif

enum {
    ZE_CPU_OK = 0,
    ZE_CPU_INVALID = -1,  // the text does not parse; nothing changed
    ZE_CPU_INACTIVE = -2, // the wrapper tables are not installed
};

// Replaces the list of failures: "function:n:code", several separated by commas. The n-th call of
// `function` from now on (1 is the next; `*` counts the calls of all functions) is answered with
// `code`, a number in hex or decimal or a ZE_RESULT name, without doing anything; a destroy or free
// that is made to fail does its work and then fails. n may be `*`: every call. NULL or "" ends all
// failing.
int zeCpuSetFail(const char *failures);

// Calls of the function so far, refused ones included; "*" for the sum over all functions;
// "compile:spirv" and "compile:native" for module builds by input, "copy:compute" for copies and
// fills in immediate lists of the compute group without the hint that other engines may do them. 0
// for unknown names.
uint64_t zeCpuGetCount(const char *name);
void zeCpuResetCounts(void);

// Calls `hook` when a call of any function begins and when it is over, in the calling thread, which
// may wait there for another one. NULL ends that.
typedef void zeCpuHook(const char *function, int is_over);
void zeCpuSetHook(zeCpuHook *hook);

// Objects and allocations that are created and not destroyed.
uint64_t zeCpuGetLiveObjects(void);
// Bytes of USM that is allocated and not freed.
uint64_t zeCpuGetLiveBytes(void);

// The file of the OpenCL runtime that the driver computes with. NULL if there is none that serves;
// `out_reason` (may be NULL) then gets a sentence: the libraries that were tried, or what the
// runtime lacks.
const char *zeCpuGetRuntime(const char **out_reason);

#ifdef __cplusplus
}
#endif

#endif
