// SPDX-License-Identifier: MIT
// Processes that compile and processes that only hit, with libraries that stand in for a driver and
// its compiler.
#include "device/compiler_identity.h"
#include "test_env.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char driver[256];
static char compiler[256];
static const char *cache_folder;

// The copy takes the place of a file that is there.
static void copy(const char *from, const char *to)
{
    char fresh[300];
    struct test_bytes bytes = test_env_read_file(from);
    snprintf(fresh, sizeof(fresh), "%s.new", to);
    FILE *file = fopen(fresh, "wb");
    cr_assert(file && fwrite(bytes.data, bytes.size_bytes, 1, file) == 1);
    fclose(file);
    cr_assert_eq(rename(fresh, to), 0);
    free(bytes.data);
}

static void set_up(void)
{
    const char *folder = test_env_scratch_path("libraries");
    cr_assert_eq(mkdir(folder, 0700), 0);
    snprintf(driver, sizeof(driver), "%s/libze_driver.so.1", folder);
    snprintf(compiler, sizeof(compiler), "%s/libigc.so.9", folder);
    copy(TEST_STAND_IN, driver);
    copy(TEST_STAND_IN, compiler);
    cache_folder = test_env_scratch_path("cache");
}

TestSuite(compiler_identity, .init = set_up, .timeout = 60);

struct process {
    const char *loads;       // beside the driver: before zepi looks; or NULL
    const char *compiles;    // with this library; NULL: only hits
    const char *replaced_by; // the file that takes the compiler's place after the compile; or NULL
};

struct seen {
    bool is_known;
    struct zepi_digest identity;
    bool has_compiler; // is loaded in the end
};

static void be(const struct process *process, struct seen *seen)
{
    struct zepi_disk *disk = zepi_disk_create(cache_folder, UINT64_MAX);
    struct zepi_compiler_identity identity = {.driver_path = driver};
    if (!dlopen(driver, RTLD_NOW) || (process->loads && !dlopen(process->loads, RTLD_NOW)))
        return;
    seen->is_known =
        zepi_compiler_identity_get(&identity, disk, ZEPI_BEFORE_COMPILE, &seen->identity);
    if (process->compiles && !dlopen(process->compiles, RTLD_NOW))
        return;
    if (process->replaced_by)
        copy(process->replaced_by, compiler);
    if (process->compiles)
        seen->is_known =
            zepi_compiler_identity_get(&identity, disk, ZEPI_AFTER_COMPILE, &seen->identity);
    seen->has_compiler = dlopen(compiler, RTLD_NOW | RTLD_NOLOAD) != NULL;
    zepi_disk_destroy(disk);
}

static struct seen run(struct process process)
{
    struct seen *shared =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status = -1;
    cr_assert_neq(shared, MAP_FAILED);
    const pid_t child = fork();
    if (child == 0) {
        be(&process, shared);
        _exit(0);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(status, 0);
    const struct seen seen = *shared;
    munmap(shared, sizeof(*shared));
    return seen;
}

static struct seen compile(void)
{
    const struct seen seen = run((struct process){.compiles = compiler});
    cr_assert(seen.is_known);
    return seen;
}

static struct seen hit(void)
{
    return run((struct process){0});
}

static bool are_equal(struct seen a, struct seen b)
{
    return zepi_digest_equal(a.identity, b.identity);
}

Test(compiler_identity, of_a_process_that_only_hits_comes_from_a_record_and_loads_nothing)
{
    cr_assert_not(hit().is_known);
    const struct seen compiled = compile();
    const struct seen found = hit();
    cr_assert(found.is_known);
    cr_assert(are_equal(found, compiled));
    cr_assert_not(found.has_compiler);
    cr_assert(are_equal(compile(), compiled));
}

Test(compiler_identity, is_another_one_after_the_compiler_or_the_driver_was_exchanged)
{
    const char *const exchanged[] = {compiler, driver};
    struct seen last = compile();
    for (size_t i = 0; i < 2; i++) {
        copy(TEST_OTHER_STAND_IN, exchanged[i]);
        const struct seen found = hit();
        cr_assert_not(are_equal(found, last));
        const struct seen now = compile();
        cr_assert(are_equal(found, now));
        last = now;
    }
}

Test(compiler_identity, is_that_of_the_build_id_whatever_file_it_is_in)
{
    const struct seen before = compile();
    copy(TEST_STAND_IN, compiler);
    cr_assert(are_equal(hit(), before));
    cr_assert(are_equal(compile(), before));
}

Test(compiler_identity, is_that_of_the_file_where_there_is_no_build_id)
{
    copy(TEST_STAND_IN_WITHOUT_ID, compiler);
    const struct seen before = compile();
    cr_assert(are_equal(compile(), before));
    cr_assert(are_equal(hit(), before));
    copy(TEST_STAND_IN_WITHOUT_ID, compiler);
    cr_assert_not(are_equal(hit(), before));
    const struct seen copied = compile();
    cr_assert_not(are_equal(copied, before));
    // As a write to the file would, this sets the time of its last change, in the steps of a coarse
    // clock.
    usleep(20000);
    cr_assert_eq(chmod(compiler, 0700), 0);
    cr_assert_not(are_equal(hit(), copied));
    cr_assert_not(are_equal(compile(), copied));
}

Test(compiler_identity, is_not_made_from_a_file_that_took_the_place_of_the_loaded_one)
{
    const struct process process = {.compiles = compiler, .replaced_by = TEST_OTHER_STAND_IN};
    cr_assert_not(run(process).is_known);
    cr_assert_not(hit().is_known);
}

Test(compiler_identity, of_a_record_does_not_hold_where_the_compiler_is_loaded_from_elsewhere)
{
    char elsewhere[256];
    const char *folder = test_env_scratch_path("elsewhere");
    snprintf(elsewhere, sizeof(elsewhere), "%s/libigc.so.9", folder);
    cr_assert_eq(mkdir(folder, 0700), 0);
    copy(TEST_OTHER_STAND_IN, elsewhere);
    const struct seen compiled = compile();
    const struct seen other = run((struct process){.loads = elsewhere});
    cr_assert(other.is_known);
    cr_assert_not(are_equal(other, compiled));
    cr_assert(are_equal(run((struct process){.compiles = elsewhere}), other));
}

Test(compiler_identity, needs_no_compile_where_the_driver_has_loaded_its_compiler)
{
    const struct seen loaded = run((struct process){.loads = compiler});
    cr_assert(loaded.is_known);
    cr_assert(are_equal(hit(), loaded));
    cr_assert(are_equal(compile(), loaded));
}

Test(compiler_identity, is_made_again_where_the_host_had_loaded_another_compiler)
{
    char hosts[300];
    snprintf(hosts, sizeof(hosts), "%s/libigc.so.8", test_env_scratch_path("."));
    copy(TEST_OTHER_STAND_IN, hosts);
    const struct seen early = run((struct process){.loads = hosts});
    const struct seen late = run((struct process){.loads = hosts, .compiles = compiler});
    cr_assert(early.is_known && late.is_known);
    cr_assert_not(are_equal(early, late));
    copy(TEST_OTHER_STAND_IN, compiler);
    cr_assert_not(are_equal(run((struct process){.loads = hosts, .compiles = compiler}), late));
}

// A library that a compiler only uses may belong to other programs.
Test(compiler_identity, is_not_that_of_a_part_of_the_compiler)
{
    char part[300];
    snprintf(part, sizeof(part), "%s/libLLVM-9.so.1", test_env_scratch_path("."));
    copy(TEST_STAND_IN, part);
    cr_assert_not(run((struct process){.loads = part}).is_known);
    cr_assert_not(hit().is_known);
}

Test(compiler_identity, of_a_record_holds_where_the_host_loads_more)
{
    char more[300];
    snprintf(more, sizeof(more), "%s/libLLVM-9.so.1", test_env_scratch_path("."));
    copy(TEST_OTHER_STAND_IN, more);
    const struct seen compiled = compile();
    const struct seen found = run((struct process){.loads = more, .compiles = compiler});
    cr_assert(found.is_known);
    cr_assert(are_equal(found, compiled));
}

Test(compiler_identity, needs_a_compiler_with_a_name_that_is_known)
{
    char unknown[300];
    snprintf(unknown, sizeof(unknown), "%s/libunknown.so.1", test_env_scratch_path("."));
    copy(TEST_STAND_IN, unknown);
    cr_assert_not(run((struct process){.compiles = unknown}).is_known);
    cr_assert_not(hit().is_known);
}

Test(compiler_identity, has_the_settings_that_compilers_read_in_it)
{
    const struct seen before = compile();
    setenv("IGC_TestSetting", "1", 1);
    cr_assert_not(are_equal(hit(), before));
    cr_assert(hit().is_known);
    unsetenv("IGC_TestSetting");
    cr_assert(are_equal(hit(), before));
}
