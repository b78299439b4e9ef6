// SPDX-License-Identifier: MIT
//
// Runs cache_process (tests/integration/cache/cache_process.c), a process that builds one module,
// and reads its output.
#ifndef ZEPI_TESTS_SUPPORT_TEST_PROCESS_H
#define ZEPI_TESTS_SUPPORT_TEST_PROCESS_H

#include <stdint.h>
#include <stdio.h>

struct test_process {
    int result;          // of the build
    uint64_t builds;     // of native code
    uint64_t store_hits; // native code that came from the disk
    uint64_t build_us;   // the first build
    uint64_t again_us;   // the second one
    uint64_t spirv;      // compiles from SPIR-V that ze_cpu counted
    uint64_t native;     // and from native code
    char log[64];        // hash and length of the log callback's text
};

// With the environment of now. `arguments` as the process takes them, for a shell. Ends the calling
// process with a message if that one fails.
struct test_process test_process_run(const char *arguments);
// The two halves of it, for processes that run at once.
FILE *test_process_start(const char *arguments);
struct test_process test_process_end(FILE *output);

#endif
