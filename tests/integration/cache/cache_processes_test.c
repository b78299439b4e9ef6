// SPDX-License-Identifier: MIT
// The cache of one process in the next: native code on disk, and changes of the folder.
#include "test_env.h"
#include "test_process.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *folder;

static void set_up(void)
{
    folder = test_env_scratch_path("shared-cache");
    setenv("ZEPI_CACHE_DIR", folder, 1);
}

TestSuite(cache_processes, .init = set_up, .timeout = 240);

static struct test_process run(const char *arguments)
{
    char with_driver[512];
    snprintf(with_driver, sizeof(with_driver), "ze_cpu %s", arguments);
    return test_process_run(with_driver);
}

static void expect_compiled(const struct test_process *process)
{
    cr_assert_eq(process->result, 0);
    cr_assert_eq(process->spirv, 1);
    cr_assert_eq(process->builds, 1);
    cr_assert_eq(process->store_hits, 0);
}

static void expect_found(const struct test_process *process)
{
    cr_assert_eq(process->result, 0);
    cr_assert_eq(process->spirv, 0);
    cr_assert_eq(process->native, 1);
    cr_assert_eq(process->builds, 0);
    cr_assert_eq(process->store_hits, 1);
}

// Calls `visit` with each file of the folder, and returns how many there were.
static int for_each_file(void (*visit)(const char *path))
{
    DIR *listing = opendir(folder);
    const struct dirent *entry;
    int count = 0;
    while (listing && (entry = readdir(listing))) {
        char path[1024];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        visit(path);
        count++;
    }
    if (listing)
        closedir(listing);
    return count;
}

Test(cache_processes, the_second_compiles_nothing_and_has_the_same_log)
{
    const struct test_process first = run("scaled_copy");
    const struct test_process second = run("scaled_copy");
    expect_compiled(&first);
    expect_found(&second);
    cr_assert_str_eq(first.log, second.log);
    cr_assert_null(strstr(first.log, "-0"), "the compiler said nothing");
    const struct test_process other = run("scaled_copy -cl-mad-enable");
    expect_compiled(&other);
}

Test(cache_processes, code_for_large_allocations_is_no_other_device_s)
{
    setenv("ZE_CPU_MAX_ALLOCATION", "64", 1);
    struct test_process process = run("scaled_copy");
    expect_compiled(&process);
    setenv("ZEPI_LARGE_ALLOCATIONS", "on", 1);
    for (int i = 0; i < 2; i++) {
        process = run("scaled_copy");
        i == 0 ? expect_compiled(&process) : expect_found(&process);
    }
    // Of a device without a limit it is the same code as with the option off.
    setenv("ZE_CPU_LIMITED_DEVICES", "0", 1);
    process = run("scaled_copy");
    expect_found(&process);
    unsetenv("ZEPI_LARGE_ALLOCATIONS");
    unsetenv("ZE_CPU_LIMITED_DEVICES");
    process = run("scaled_copy");
    expect_found(&process);
}

Test(cache_processes, failures_are_told_again_by_the_compiler)
{
    const struct test_process first = run("scaled_copy -cl-no-such-option");
    const struct test_process second = run("scaled_copy -cl-no-such-option");
    cr_assert_neq(first.result, 0);
    cr_assert_eq(first.result, second.result);
    cr_assert_str_eq(first.log, second.log);
    cr_assert_eq(second.builds, 1);
    cr_assert_eq(second.store_hits, 0);
}

Test(cache_processes, without_a_disk_keep_nothing)
{
    setenv("ZEPI_CACHE_DISK", "off", 1);
    const struct test_process first = run("scaled_copy");
    const struct test_process second = run("scaled_copy");
    expect_compiled(&first);
    expect_compiled(&second);
    cr_assert_neq(access(folder, F_OK), 0);
}

// ---- Processes that start at once ----

static uint64_t count_compiles_of_four(void)
{
    static const char *const programs[] = {"scaled_copy", "vector_add", "blend"};
    FILE *processes[12];
    char arguments[64];
    uint64_t compiles = 0;
    for (int i = 0; i < 12; i++) {
        snprintf(arguments, sizeof(arguments), "ze_cpu %s", programs[i / 4]);
        processes[i] = test_process_start(arguments);
    }
    for (int i = 0; i < 12; i++)
        compiles += test_process_end(processes[i]).spirv;
    return compiles;
}

Test(cache_processes, that_start_at_once_compile_each_program_once)
{
    setenv("ZE_CPU_BUILD_MS", "300", 1); // the others come before the first is ready
    cr_assert_eq(count_compiles_of_four(), 3);
    cr_assert_eq(count_compiles_of_four(), 0);
}

// ---- A folder under attack ----

static void flip(const char *path)
{
    struct test_bytes bytes = test_env_read_file(path);
    FILE *file = fopen(path, "r+b");
    cr_assert(file && bytes.size_bytes > 100);
    fseek(file, (long)bytes.size_bytes - 40, SEEK_SET);
    fputc(bytes.data[bytes.size_bytes - 40] ^ 1, file);
    fclose(file);
    free(bytes.data);
}

static void cut(const char *path)
{
    cr_assert_eq(truncate(path, 77), 0);
}

static void replace_by_link(const char *path)
{
    char moved[1100];
    snprintf(moved, sizeof(moved), "%s/../moved-away", folder);
    cr_assert_eq(rename(path, moved), 0);
    cr_assert_eq(symlink(moved, path), 0);
}

static void let_others_write(const char *path)
{
    cr_assert_eq(chmod(path, 0666), 0);
}

static void expect_rebuilt_after(void (*damage)(const char *path))
{
    const struct test_process first = run("scaled_copy");
    expect_compiled(&first);
    cr_assert_geq(for_each_file(damage), 1);
    const struct test_process second = run("scaled_copy");
    expect_compiled(&second);
    cr_assert_str_eq(first.log, second.log);
    const struct test_process third = run("scaled_copy");
    expect_found(&third);
}

Test(cache_processes, a_flipped_bit_is_noticed_and_rebuilt)
{
    expect_rebuilt_after(flip);
}

Test(cache_processes, a_file_that_is_cut_short_is_noticed_and_rebuilt)
{
    expect_rebuilt_after(cut);
}

Test(cache_processes, a_symbolic_link_is_not_followed)
{
    expect_rebuilt_after(replace_by_link);
}

Test(cache_processes, a_file_that_others_may_write_is_not_trusted)
{
    expect_rebuilt_after(let_others_write);
}

static void ignore(const char *path)
{
    (void)path;
}

Test(cache_processes, a_folder_that_others_may_write_is_not_used)
{
    cr_assert_eq(mkdir(folder, 0700), 0);
    cr_assert_eq(chmod(folder, 0777), 0);
    for (int i = 0; i < 2; i++) {
        const struct test_process process = run("scaled_copy");
        expect_compiled(&process);
    }
    cr_assert_eq(for_each_file(ignore), 0);
}

Test(cache_processes, a_folder_that_is_a_link_is_not_used)
{
    const char *real = test_env_scratch_path("real-folder");
    cr_assert_eq(mkdir(real, 0700), 0);
    cr_assert_eq(symlink(real, folder), 0);
    const struct test_process process = run("scaled_copy");
    expect_compiled(&process);
    cr_assert_eq(for_each_file(ignore), 0);
}

Test(cache_processes, a_folder_that_cannot_be_written_does_not_matter)
{
    cr_assert_eq(mkdir(folder, 0500), 0);
    const struct test_process process = run("scaled_copy");
    expect_compiled(&process);
    setenv("ZEPI_CACHE_DIR", "/proc/self/no-such-folder", 1);
    const struct test_process nowhere = run("scaled_copy");
    expect_compiled(&nowhere);
}

Test(cache_processes, a_folder_that_vanished_is_made_again)
{
    const struct test_process first = run("scaled_copy");
    expect_compiled(&first);
    char command[1024];
    snprintf(command, sizeof(command), "rm -r '%s'", folder);
    cr_assert_eq(system(command), 0); // NOLINT(cert-env33-c): the command is ours
    const struct test_process second = run("scaled_copy");
    expect_compiled(&second);
    const struct test_process third = run("scaled_copy");
    expect_found(&third);
}

// ---- Another compiler ----

// Copies the OpenCL runtime into a folder of its own. Small files are links: nothing changes them.
static const char *copy_runtime(void)
{
    const char *copy = test_env_scratch_path("runtime");
    char command[4096];
    snprintf(command, sizeof(command),
             "mkdir '%s' && cp -rs '%s/.' '%s' && rm '%s/libintelocl.so' && "
             "cp '%s/libintelocl.so' '%s'",
             copy, TEST_RUNTIME_FOLDER, copy, copy, TEST_RUNTIME_FOLDER, copy);
    cr_assert_eq(system(command), 0); // NOLINT(cert-env33-c): the command is ours
    return copy;
}

// Changes the last byte, which belongs to the table of sections, which is not loaded, and gives the
// file its old time of modification back.
static void change_a_byte(const char *path)
{
    struct stat before;
    struct test_bytes bytes = test_env_read_file(path);
    FILE *file = fopen(path, "r+b");
    cr_assert(file && stat(path, &before) == 0);
    fseek(file, -1, SEEK_END);
    fputc(bytes.data[bytes.size_bytes - 1] ^ 1, file);
    fclose(file);
    free(bytes.data);
    const struct timespec times[2] = {before.st_atim, before.st_mtim};
    cr_assert_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

Test(cache_processes, another_compiler_behind_the_same_version_compiles_again)
{
    char library[1024];
    snprintf(library, sizeof(library), "%s/libintelocl.so", copy_runtime());
    setenv("ZE_CPU_OPENCL", library, 1);
    const struct test_process first = run("scaled_copy");
    expect_compiled(&first);
    const struct test_process unchanged = run("scaled_copy");
    expect_found(&unchanged);
    change_a_byte(library);
    const struct test_process changed = run("scaled_copy");
    expect_compiled(&changed);
    const struct test_process again = run("scaled_copy");
    expect_found(&again);
}

// An update of the system replaces the library that this process has loaded.
Test(cache_processes, a_compiler_that_cannot_be_identified_leaves_nothing_on_the_disk)
{
    char library[1024];
    snprintf(library, sizeof(library), "%s/libintelocl.so", copy_runtime());
    setenv("ZE_CPU_OPENCL", library, 1);
    setenv("TEST_LOST_FILE", library, 1);
    const struct test_process process = run("scaled_copy");
    expect_compiled(&process);
    cr_assert_eq(for_each_file(ignore), 0);
}
