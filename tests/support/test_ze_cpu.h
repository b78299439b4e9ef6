// SPDX-License-Identifier: MIT
//
// The switches of ze_cpu in the test's own process (tools/ze_cpu/ze_cpu.h describes each).
#ifndef ZEPI_TESTS_SUPPORT_TEST_ZE_CPU_H
#define ZEPI_TESTS_SUPPORT_TEST_ZE_CPU_H

#include <stdint.h>

struct test_ze_cpu {
    int (*set_fail)(const char *failures);
    // Of "compile:spirv" as behind test_ze_cpu_require_own_compiler.
    uint64_t (*get_count)(const char *name);
    void (*reset_counts)(void);
    void (*set_hook)(void (*hook)(const char *function, int is_over));
    uint64_t (*get_live_objects)(void);
    uint64_t (*get_live_bytes)(void);
};

// Ends the process with the call and its result unless that is 0, as success is for Level Zero and
// for OpenCL. For programs of plain Level Zero, without Criterion; thread-safe.
#define TEST_ZE_OK(call) test_ze_expect_success((int)(call), #call, __FILE__, __LINE__)
_Noreturn void test_ze_end(int result, const char *call, const char *file, int line);
// Inline, since calls are counted in instructions, too.
static inline void test_ze_expect_success(int result, const char *call, const char *file, int line)
{
    if (result != 0)
        test_ze_end(result, call, file, line);
}

// ze_cpu as the only driver, counting calls and keeping a ledger of its objects. Before zeInit. On
// Intel's driver (test_env.h) there are no live objects, and the others skip the test.
struct test_ze_cpu test_ze_cpu_use(void);

// Skips the test on Intel's driver. To be called before commands wait for the host: a test that is
// skipped later, as it counts a call, ends its process, and Intel's driver would wait for them.
void test_ze_cpu_require(void);

// Skips the test if ZEPI_COMPILER has compiles in other processes: ze_cpu counts them there.
// (zepi's own counters, of ZEPI_STATS and of its caches, have them all.)
void test_ze_cpu_require_own_compiler(void);

#endif
