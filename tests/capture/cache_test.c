// SPDX-License-Identifier: MIT
// The cache on a real device compiler: the cache of one process in the next, and the compiles that
// it saves.
#include "test_env.h"
#include "test_process.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void set_up(void)
{
    setenv("ZEPI_CACHE_DIR", test_env_scratch_path("shared-cache"), 1);
}

TestSuite(capture_cache, .init = set_up, .timeout = 120);

Test(capture_cache, the_second_process_compiles_nothing_in_a_fraction_of_the_time)
{
    uint64_t best_native_us = UINT64_MAX;
    const struct test_process first = test_process_run("intel:tgllp scaled_copy");
    cr_assert_eq(first.result, 0);
    cr_assert_eq(first.builds, 1);
    cr_assert_eq(first.store_hits, 0);
    for (int i = 0; i < 5; i++) {
        const struct test_process next = test_process_run("intel:tgllp scaled_copy");
        cr_assert_eq(next.result, 0);
        cr_assert_eq(next.builds, 0);
        cr_assert_eq(next.store_hits, 1);
        cr_assert_str_eq(next.log, first.log);
        if (next.build_us < best_native_us)
            best_native_us = next.build_us;
    }
    printf("a build from SPIR-V: %llu us; the next process, from the disk, with the look at the "
           "compiler's libraries: %llu us; ratio %.0f; again in one process: %llu us\n",
           (unsigned long long)first.build_us, (unsigned long long)best_native_us,
           (double)first.build_us / (double)best_native_us, (unsigned long long)first.again_us);
    // Sanitizers make reading files ten times as slow.
    cr_assert_lt(best_native_us, TEST_IS_MEASURABLE ? 1000 : 20000);
    cr_assert_gt(first.build_us, (TEST_IS_MEASURABLE ? 20 : 2) * best_native_us);
}

Test(capture_cache, another_product_is_another_build)
{
    const struct test_process first = test_process_run("intel:tgllp scaled_copy");
    const struct test_process other = test_process_run("intel:skl scaled_copy");
    cr_assert_eq(first.builds, 1);
    cr_assert_eq(other.builds, 1);
    const struct test_process again = test_process_run("intel:tgllp scaled_copy");
    cr_assert_eq(again.store_hits, 1);
}

// This driver's UUID is made of a clock, in steps of 4.3 seconds.
Test(capture_cache, a_driver_that_calls_itself_differently_is_the_same)
{
    const struct test_process first = test_process_run("intel:tgllp scaled_copy");
    sleep(5);
    const struct test_process later = test_process_run("intel:tgllp scaled_copy");
    cr_assert_eq(first.builds, 1);
    cr_assert_eq(later.builds, 0);
}

// Intel's graphics compiler in a folder of its own, found before the system's.
static const char *copy_compiler(char *library, size_t size)
{
    const char *folder = test_env_scratch_path("compiler");
    char command[2048];
    snprintf(library, size, "%s/libigc.so.1", folder);
    snprintf(command, sizeof(command),
             "mkdir '%s' && cp -L \"$(ldconfig -p | awk '/libigc.so.1 / {print $NF; exit}')\" '%s'",
             folder, library);
    // NOLINTNEXTLINE(cert-env33-c): the command is ours
    return system(command) == 0 ? folder : NULL;
}

// Another build of the library surely differs in this.
static void change_build_id(const char *path)
{
    static const char note[] = "\3\0\0\0GNU"; // its type and name; the id follows
    struct test_bytes bytes = test_env_read_file(path);
    const uint8_t *id = memmem(bytes.data, bytes.size_bytes, note, sizeof(note));
    FILE *file = fopen(path, "r+b");
    cr_assert(id && file);
    id += sizeof(note);
    fseek(file, id - bytes.data, SEEK_SET);
    fputc(*id ^ 1, file);
    fclose(file);
    free(bytes.data);
}

Test(capture_cache, another_compiler_behind_the_same_version_compiles_again)
{
    char library[1024];
    const char *folder = copy_compiler(library, sizeof(library));
    cr_assert_not_null(folder);
    const struct test_process systems = test_process_run("intel:tgllp scaled_copy");
    cr_assert_eq(systems.builds, 1);
    setenv("LD_LIBRARY_PATH", folder, 1);
    // A copy with the same bytes is the same compiler.
    const struct test_process copied = test_process_run("intel:tgllp scaled_copy");
    cr_assert_eq(copied.builds, 0);
    cr_assert_eq(copied.store_hits, 1);
    change_build_id(library);
    const struct test_process changed = test_process_run("intel:tgllp scaled_copy");
    cr_assert_eq(changed.builds, 1);
    cr_assert_eq(changed.store_hits, 0);
    const struct test_process unchanged = test_process_run("intel:tgllp scaled_copy");
    cr_assert_eq(unchanged.builds, 0);
    cr_assert_eq(unchanged.store_hits, 1);
    unsetenv("LD_LIBRARY_PATH");
    const struct test_process back = test_process_run("intel:tgllp scaled_copy");
    cr_assert_eq(back.builds, 0);
}

Test(capture_cache, settings_that_the_compiler_reads_are_part_of_the_key)
{
    const struct test_process first = test_process_run("intel:tgllp scaled_copy");
    setenv("IGC_ForceOCLSIMDWidth", "8", 1);
    const struct test_process other = test_process_run("intel:tgllp scaled_copy");
    cr_assert_eq(first.builds, 1);
    cr_assert_eq(other.builds, 1);
}
