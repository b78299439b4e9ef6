// SPDX-License-Identifier: MIT
#include "walk.h"

#include "cache/seam.h"
#include "test_env.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_ROUNDS 5000

static struct test_ze_cpu ze_cpu;
static atomic_uint allocations_left; // the one that brings it to 0 fails; 0: none does
static const char *where = "";
static uint64_t kept; // objects in the driver that are not the story's

// Draws the plugin out of the archive: test_plugin_load takes it as soon as it is there.
zepi_plugin_init_fn *const walk_plugin_init = zepiPluginInit;

static int fail_allocation(enum zepi_seam_call call)
{
    if (call != ZEPI_SEAM_ALLOCATE || atomic_load(&allocations_left) == 0)
        return 0;
    return atomic_fetch_sub(&allocations_left, 1) == 1 ? ENOMEM : 0;
}

void walk_begin(void)
{
    ze_cpu = test_ze_cpu_use();
    test_plugin_load();
    zepi_seam_set_hook(fail_allocation);
}

void walk_keep(void)
{
    kept = ze_cpu.get_live_objects();
}

zepi_result_t walk_step(zepi_result_t result, const char *call)
{
    zepi_result_t noted;
    if (result == ZEPI_SUCCESS)
        return result;
    if (!zepi.last_error(&noted)[0] || noted != result) {
        fprintf(stderr, "%s: %s answers %s, but the last error is %s: '%s'\n", where, call,
                zepi.result_name(result), zepi.result_name(noted), zepi.last_error(NULL));
        exit(1);
    }
    return result;
}

void walk_release(void *object)
{
    if (object)
        TEST_OK(zepi.release(object));
}

static _Noreturn void give_up(const char *name, unsigned round, const char *what)
{
    fprintf(stderr, "%s, failure %u: %s (last error: %s)\n", name, round, what,
            zepi.last_error(NULL));
    exit(1);
}

// After the failure is gone, the same story works.
static void check_recovery(const char *name, unsigned round, story_fn *story)
{
    if (story() != ZEPI_SUCCESS)
        give_up(name, round, "the story fails after the failure is gone");
    if (ze_cpu.get_live_objects() != kept)
        give_up(name, round, "objects are left in the driver after a good round");
}

static void fail_call(const char *name, unsigned round, const char *code)
{
    char failure[64];
    snprintf(failure, sizeof(failure), "*:%u:%s", round, code);
    ze_cpu.reset_counts();
    if (ze_cpu.set_fail(failure) != 0)
        give_up(name, round, "zeCpuSetFail refuses");
}

void walk_calls_in_children(const char *name, story_fn *story, const char *code, unsigned rounds)
{
    unsigned failed = 0;
    for (unsigned round = 1; round <= rounds; round++) {
        char failure[64];
        int status;
        fflush(NULL);
        const pid_t child = fork();
        if (child == 0) {
            // The driver reads it when the loader brings it up.
            snprintf(failure, sizeof(failure), "*:%u:%s", round, code);
            setenv("ZE_CPU_FAIL", failure, 1);
            where = name;
            const zepi_result_t result = story();
            if (ze_cpu.get_live_objects() != kept)
                give_up(name, round, "objects are left in the driver");
            _exit(result == ZEPI_SUCCESS ? 0 : 2);
        }
        if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
            (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 2))
            give_up(name, round, "the process ends badly");
        failed += WEXITSTATUS(status) == 2;
    }
    printf("%s: %u calls, %u of them fatal to the story\n", name, rounds, failed);
    if (failed == 0)
        give_up(name, rounds, "no call was fatal");
}

unsigned walk_calls(const char *name, story_fn *story, const char *code)
{
    unsigned failed = 0;
    where = name;
    for (unsigned round = 1; round < MAX_ROUNDS; round++) {
        fail_call(name, round, code);
        const zepi_result_t result = story();
        const bool was_met = ze_cpu.get_count("*") >= round;
        ze_cpu.set_fail("");
        if (ze_cpu.get_live_objects() != kept)
            give_up(name, round, "objects are left in the driver");
        failed += result != ZEPI_SUCCESS;
        if (!was_met && result != ZEPI_SUCCESS)
            give_up(name, round, "the story fails although no call did");
        if (!was_met) {
            printf("%s: %u calls, %u of them fatal to the story\n", name, round - 1, failed);
            return round - 1;
        }
        if (round % 16 == 0)
            check_recovery(name, round, story);
    }
    give_up(name, MAX_ROUNDS, "the story does not end");
}

unsigned walk_allocations(const char *name, story_fn *story)
{
    unsigned failed = 0;
    where = name;
    for (unsigned round = 1; round < MAX_ROUNDS; round++) {
        atomic_store(&allocations_left, round);
        const zepi_result_t result = story();
        const bool was_met = atomic_exchange(&allocations_left, 0) == 0;
        if (ze_cpu.get_live_objects() != kept)
            give_up(name, round, "objects are left in the driver");
        failed += result != ZEPI_SUCCESS;
        if (!was_met && result != ZEPI_SUCCESS)
            give_up(name, round, "the story fails although no allocation did");
        if (!was_met) {
            printf("%s: %u allocations, %u of them fatal to the story\n", name, round - 1, failed);
            return round - 1;
        }
        if (round % 16 == 0)
            check_recovery(name, round, story);
    }
    give_up(name, MAX_ROUNDS, "the story does not end");
}
