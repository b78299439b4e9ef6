// SPDX-License-Identifier: MIT
//
// The preparation of every test before it calls a driver: an environment of its own, so that a test
// program runs bare, from any folder and beside others. A failure of the machine (no space, no
// permission) ends the process with a message, since no test can go on after it. The functions that
// read are thread-safe, the others are called before a test starts threads.
//
// Level Zero's loader reads the environment once a process, in the first zeInit: call one of the
// test_env_use_* functions before that, from main() or as a Criterion .init (Criterion runs each
// test in a process of its own).
#ifndef ZEPI_TESTS_SUPPORT_TEST_ENV_H
#define ZEPI_TESTS_SUPPORT_TEST_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Exit code of a plain test program that could not run; say why before.
#define TEST_SKIPPED 77

// Whether times and counts of instructions say anything: in a build with optimisation, without
// sanitizers.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
#define TEST_IS_MEASURABLE false
#else
#define TEST_IS_MEASURABLE true
#endif

// Ends a plain test program with the place and the message unless the condition holds. (Criterion's
// tests have cr_assert.) Thread-safe.
#define TEST_EXPECT(condition, wrong) test_expect(condition, wrong, __FILE__, __LINE__)
void test_expect(bool is_right, const char *wrong, const char *file, int line);

struct test_bytes {
    uint8_t *data; // owned, free() it; NULL if size_bytes is 0
    size_t size_bytes;
};

// The calling process' private folder (mode 0700), made by the first call and removed with all that
// is in it when the process exits. A forked child that calls this gets a folder of its own.
// Borrowed.
const char *test_env_scratch(void);

// The path of a new, not yet existing file or folder in the scratch folder. Borrowed until exit.
const char *test_env_scratch_path(const char *name);

// Ends a test as skipped: one story of Criterion, else the program.
_Noreturn void test_env_skip(const char *reason);
// Criterion's part of it; NULL in plain programs.
__attribute__((weak)) void test_skip(const char *reason);

// The CPU driver, as the only Level Zero driver, with ZE_CPU_STRICT=1 unless that is set, and with
// one folder for its machine code (ZE_CPU_CODE_FOLDER) that all tests of a build share. Other
// ZE_CPU_* variables are left as they are. With
// TEST_DRIVER=intel the driver that the process was started on instead (zepi exec --intel-driver).
void test_env_use_ze_cpu(void);
bool test_env_is_on_intel_driver(void);

// The null driver of the Level Zero loader's source, as the only driver, with the tracing layer
// (the loader must be asked for it before zeInit) and the parameter-validation layer. Skips the
// test if there is no such driver.
void test_env_use_null_driver(void);
// The null driver beside those that were chosen: one more platform. Skips the test if there is
// none.
void test_env_add_null_driver(void);

// Intel's driver in capture mode, for a GPU that need not be there: compiles for real, launches
// complete without executing. FAMILY is a product of that driver: "tgllp" (no double precision),
// "skl" (with). Changes the working directory to the scratch folder, since the driver writes *.aub
// files there.
void test_env_use_intel_capture(const char *family);

// No driver at all: zeInit fails.
void test_env_use_no_driver(void);

// How many file descriptors of the process are open, of the first 1,024.
int test_env_count_descriptors(void);

// The bytes that the process has allocated and not freed. (A sanitizer keeps freed memory, and the
// C library knows nothing of it.)
size_t test_env_allocated_bytes(void);

// The number behind these words in the text of a report. A text without them ends the process.
uint64_t test_env_number_behind(const char *text, const char *words);

// All of a file. A file that cannot be read ends the process.
struct test_bytes test_env_read_file(const char *path);

// tests/data/NAME.cl as SPIR-V, or where it is. The path is borrowed until
// the calling thread's next call.
struct test_bytes test_env_read_spirv(const char *name);
const char *test_env_spirv_path(const char *name);

#endif
