// SPDX-License-Identifier: MIT
#include "walk.h"

#include "core/sys.h"
#include "test_env.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_ROUNDS 5000

// The calls that are made to fail.
struct failure {
    const char *name; // of the walk
    story_fn *story;
    const char *function; // of Level Zero, "*": any; NULL: allocations or file operations
    const char *code;     // that it answers
    int error;            // that the n-th file operation answers; 0: the n-th allocation fails
    // The results that the story may have beside success, and words of their text.
    zepi_result_t expected;
    const char *words;
};

static const struct {
    const char *code;
    zepi_result_t result;
} codes[] = {
    {"ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY", ZEPI_ERROR_OUT_OF_HOST_MEMORY},
    {"ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY", ZEPI_ERROR_OUT_OF_DEVICE_MEMORY},
    {"ZE_RESULT_ERROR_DEVICE_LOST", ZEPI_ERROR_DEVICE_LOST},
    {"ZE_RESULT_ERROR_UNKNOWN", ZEPI_ERROR_UNKNOWN},
};

static struct test_ze_cpu ze_cpu;
static uint64_t kept; // objects in the driver that are not the story's
static bool is_rehearsal;
static bool has_children;
static const char *lasting_words;
static const char *where = "";
static unsigned round_number;
static char text_of_failure[1024]; // of the story's last failing step

// The call that brings `left` to 0 fails; 0: none does.
static atomic_uint left;
static int seam_error; // 0: allocations fail
static atomic_bool is_reading;
static atomic_uint unlinks;

// Draws the plugin out of the archive: test_plugin_load takes it as soon as it is there.
zepi_plugin_init_fn *const walk_plugin_init = zepiPluginInit;

static int fail_seam(enum zepi_sys_call call)
{
    if (call == ZEPI_SYS_UNLINK)
        atomic_fetch_add(&unlinks, 1);
    if ((call == ZEPI_SYS_ALLOCATE) != (seam_error == 0) || atomic_load(&left) == 0)
        return 0;
    // A file that is read in a thousand pieces, as compilers are, counts once.
    const bool is_next_piece = atomic_exchange(&is_reading, call == ZEPI_SYS_READ);
    if (is_next_piece && call == ZEPI_SYS_READ)
        return 0;
    return atomic_fetch_sub(&left, 1) == 1 ? (seam_error ? seam_error : ENOMEM) : 0;
}

void walk_begin(void)
{
    ze_cpu = test_ze_cpu_use();
    test_plugin_load();
    zepi_sys_set_hook(fail_seam);
}

unsigned walk_unlinks(void)
{
    return atomic_load(&unlinks);
}

void walk_keep(void)
{
    kept = ze_cpu.get_live_objects();
}

void walk_rehearse(bool is_one)
{
    is_rehearsal = is_one;
    walk_keep();
}

void walk_let_last(const char *words)
{
    lasting_words = words;
}

void walk_in_children(bool are_children)
{
    has_children = are_children;
    // Children find the OpenCL runtime loaded, which takes longer than all else that they do.
    const char *opencl = getenv("ZE_CPU_OPENCL");
    if (are_children && opencl && !dlopen(opencl, RTLD_NOW | RTLD_LOCAL))
        fprintf(stderr, "%s\n", dlerror());
}

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "%s, failure %u: %s (last error: %s)\n", where, round_number, what,
            zepi.last_error(NULL));
    exit(1);
}

int32_t walk_build_anew(void)
{
    static int32_t constant = 2;
    const char *folder = getenv("ZEPI_CACHE_DIR");
    DIR *list = folder ? opendir(folder) : NULL;
    const struct dirent *entry;
    while (list && (entry = readdir(list)))
        unlinkat(dirfd(list), entry->d_name, 0); // refuses folders
    if (list)
        closedir(list);
    TEST_OK(zepi.cache_clear(NULL));
    constant = 3 - constant;
    return constant;
}

zepi_result_t walk_step(zepi_result_t result, const char *call)
{
    zepi_result_t noted;
    if (result == ZEPI_SUCCESS)
        return result;
    if (!zepi.last_error(&noted)[0] || noted != result) {
        fprintf(stderr, "%s answers %s, but the last error is %s\n", call, zepi.result_name(result),
                zepi.result_name(noted));
        give_up("a failure without its text");
    }
    // Releasing what the story made may fail on the way out, and leave a text of its own.
    snprintf(text_of_failure, sizeof(text_of_failure), "%s", zepi.last_error(NULL));
    return result;
}

void walk_expect(bool is_so, const char *condition)
{
    if (!is_so)
        give_up(condition);
}

void walk_release(void *object)
{
    if (object)
        TEST_OK(zepi.release(object));
}

void walk_settle(zepi_queue_t queue)
{
    while (queue && zepi.queue_finish(queue) != ZEPI_SUCCESS)
        ;
}

static void arm(const struct failure *failure, unsigned round)
{
    char text[128];
    round_number = round;
    ze_cpu.reset_counts();
    if (!failure->function) {
        seam_error = failure->error;
        atomic_store(&left, round);
        return;
    }
    snprintf(text, sizeof(text), "%s:%u:%s", failure->function, round, failure->code);
    if (ze_cpu.set_fail(text) != 0)
        give_up("zeCpuSetFail refuses");
}

// Returns whether it was met.
static bool disarm(const struct failure *failure, unsigned round)
{
    if (!failure->function)
        return atomic_exchange(&left, 0) == 0;
    ze_cpu.set_fail("");
    return ze_cpu.get_count(failure->function) >= round;
}

enum round_end {
    NOT_MET, // the walk is over
    HARMLESS,
    FATAL, // to the story
};

static void expect_failure(const struct failure *failure, zepi_result_t result)
{
    if (result == failure->expected && strstr(text_of_failure, failure->words))
        return;
    fprintf(stderr, "%s: '%s', expected %s, and '%s' in the text\n", zepi.result_name(result),
            text_of_failure, zepi.result_name(failure->expected), failure->words);
    give_up("a failure of another kind");
}

static zepi_result_t fail_once(const struct failure *failure, unsigned round, bool *out_was_met)
{
    arm(failure, round);
    const zepi_result_t result = failure->story();
    *out_was_met = disarm(failure, round);
    return result;
}

// How many events the plugin keeps depends on how fast commands end. A leak comes back each time,
// with the failure of the round or, if `round` is 0, without one.
static void expect_no_leak(const struct failure *failure, unsigned round, const char *words)
{
    bool was_met;
    for (int again = 0; !is_rehearsal && ze_cpu.get_live_objects() > kept; again++) {
        if (again == 3)
            give_up(words);
        kept = ze_cpu.get_live_objects();
        if (round > 0)
            fail_once(failure, round, &was_met);
        else
            failure->story();
    }
}

// For lack of memory a context gives back its free lists with their events, maybe in a later story,
// and free memory, which also goes with time. Later stories make anew only what they need.
static uint64_t count_given_back(void)
{
    return ze_cpu.get_count("zeCommandListDestroy") + ze_cpu.get_count("zeEventDestroy") +
           ze_cpu.get_count("zeMemFree");
}

static enum round_end walk_round(const struct failure *failure, unsigned round)
{
    bool was_met;
    const zepi_result_t result = fail_once(failure, round, &was_met);
    const enum round_end end = result != ZEPI_SUCCESS ? FATAL : was_met ? HARMLESS : NOT_MET;
    if (!was_met && end == FATAL)
        give_up("the story fails although nothing was made to fail");
    if (end == FATAL)
        expect_failure(failure, result);
    const bool is_lasting = end == FATAL && lasting_words && strstr(text_of_failure, lasting_words);
    expect_no_leak(failure, round, "objects are left in the driver");
    // A free event that could not be made anew is missing until a story takes it.
    if (is_lasting || (end != FATAL && (is_rehearsal || ze_cpu.get_live_objects() == kept)))
        return end;
    if (failure->story() != ZEPI_SUCCESS)
        give_up("the story fails after the failure is gone");
    expect_no_leak(failure, 0, "objects are left in the driver after a good round");
    if (!is_rehearsal && ze_cpu.get_live_objects() + count_given_back() + 1 < kept)
        give_up("objects are missing in the driver after a good round");
    kept = is_rehearsal ? kept : ze_cpu.get_live_objects();
    return end;
}

// The round in a child, which exits with its end.
static enum round_end walk_round_in_child(const struct failure *failure, unsigned round)
{
    enum { GOOD = 10 };
    int status;
    round_number = round;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        exit(GOOD + (int)walk_round(failure, round));
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
        WEXITSTATUS(status) < GOOD + NOT_MET || WEXITSTATUS(status) > GOOD + FATAL)
        give_up("the process ends badly");
    return (enum round_end)(WEXITSTATUS(status) - GOOD);
}

static unsigned walk(const struct failure *failure)
{
    unsigned fatal = 0;
    where = failure->name;
    for (unsigned round = 1; round < MAX_ROUNDS; round++) {
        const enum round_end end =
            has_children ? walk_round_in_child(failure, round) : walk_round(failure, round);
        fatal += end == FATAL;
        if (end != NOT_MET)
            continue;
        printf("%s: %u failures, %u of them fatal to the story\n", failure->name, round - 1, fatal);
        if (round == 1)
            give_up("the failure is never met");
        return round - 1;
    }
    give_up("the story does not end");
}

unsigned walk_calls_of(const char *name, story_fn *story, const char *function, const char *code)
{
    struct failure failure = {
        .name = name, .story = story, .function = function, .code = code, .words = code};
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        if (strcmp(codes[i].code, code) == 0)
            failure.expected = codes[i].result;
    }
    return walk(&failure);
}

unsigned walk_calls(const char *name, story_fn *story, const char *code)
{
    return walk_calls_of(name, story, "*", code);
}

unsigned walk_allocations(const char *name, story_fn *story)
{
    const struct failure failure = {
        .name = name, .story = story, .expected = ZEPI_ERROR_OUT_OF_HOST_MEMORY, .words = "memory"};
    return walk(&failure);
}

unsigned walk_files(const char *name, story_fn *story, int error)
{
    const struct failure failure = {
        .name = name, .story = story, .error = error, .expected = ZEPI_SUCCESS, .words = ""};
    return walk(&failure);
}

void walk_rehearsed(const char *name, story_fn *story, const char *code)
{
    char title[64];
    TEST_OK(story());
    for (int rehearsals = 3; rehearsals >= 0; rehearsals--) {
        walk_rehearse(rehearsals > 0);
        snprintf(title, sizeof(title), "%s, calls", name);
        walk_calls(title, story, code);
        snprintf(title, sizeof(title), "%s, allocations", name);
        walk_allocations(title, story);
    }
}
