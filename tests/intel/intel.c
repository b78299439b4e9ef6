// SPDX-License-Identifier: MIT
#include "intel.h"

#include "test_env.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define STORY_VARIABLE "ZEPI_TEST_STORY"
#define SECONDS_VARIABLE "ZEPI_TEST_SECONDS" // of a story; under valgrind it takes more
#define SECONDS_OF_STORY 100

_Noreturn void intel_fail(const char *file, int line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s:%d: ", file, line);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

static void *shim_function(const char *name)
{
    void *symbol = dlsym(RTLD_DEFAULT, name);
    INTEL_EXPECT(symbol, "%s has no %s", TEST_DRM_SHIM, name);
    return symbol;
}

_Noreturn void intel_end_lost(void)
{
    uint64_t (*errors)(void);
    void *symbol = shim_function("drm_shim_errors");
    memcpy(&errors, &symbol, sizeof(symbol));
    const bool is_strict = strcmp(getenv("DRM_SHIM_STRICT"), "1") == 0;
    INTEL_EXPECT(!is_strict || errors() == 0, "the stand-in has seen errors");
    fflush(NULL);
    _exit(0);
}

uint64_t intel_random(void)
{
    static uint64_t state = 0x9e3779b97f4a7c15u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

// ---- Stories ----

static _Noreturn void start(const char *program, const struct intel_story *story)
{
    setenv("DRM_SHIM_EXEC", "0", 1);
    setenv("DRM_SHIM_STRICT", "1", 1);
    setenv("NEO_CACHE_PERSISTENT", "0", 1);
    setenv(STORY_VARIABLE, story->name, 1);
    for (size_t i = 0; i < 8 && story->environment[i]; i++) {
        char setting[256];
        snprintf(setting, sizeof(setting), "%s", story->environment[i]);
        char *value = strchr(setting, '=');
        *value++ = '\0';
        setenv(setting, value, 1);
    }
    execl(TEST_ZEPI, TEST_ZEPI, "exec", "--intel-driver", "--", program, (char *)NULL);
    perror(TEST_ZEPI);
    exit(1);
}

// Runs a story; false if it fails. Files are in this process' scratch folder, which goes at its
// end.
static bool run_story(const char *program, const struct intel_story *story)
{
    int status = 0;
    printf("%s ... ", story->name);
    fflush(NULL);
    test_env_use_no_driver(); // a cache of its own
    unsetenv("ZE_ENABLE_ALT_DRIVERS");
    setenv("DRM_SHIM_TRACE", test_env_scratch_path(story->name), 1);
    const pid_t child = fork();
    if (child == 0) {
        const char *seconds = getenv(SECONDS_VARIABLE);
        alarm(seconds ? (unsigned)strtoul(seconds, NULL, 10) : SECONDS_OF_STORY);
        start(program, story);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror("fork");
        return false;
    }
    const bool is_good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (is_good)
        puts("ok");
    else if (WIFSIGNALED(status))
        printf("FAILED: signal %d\n", WTERMSIG(status));
    else
        printf("FAILED: exit code %d\n", WEXITSTATUS(status));
    return is_good;
}

int intel_main(int argc, char **argv, const struct intel_story *stories)
{
    const char *chosen = getenv(STORY_VARIABLE);
    char program[PATH_MAX];
    int failed = 0;
    if (chosen) {
        for (; stories->name; stories++) {
            if (strcmp(stories->name, chosen) == 0) {
                stories->run();
                return 0;
            }
        }
        return 1;
    }
    if (access(TEST_INTEL_DRIVER "/usr/lib/x86_64-linux-gnu/libze_intel_gpu.so.1", R_OK) != 0 ||
        access(TEST_DRM_SHIM, R_OK) != 0) {
        printf("skipped: Intel's driver is not in %s, or %s was not built: run tools/setup "
               "--intel-driver, then build\n",
               TEST_INTEL_DRIVER, TEST_DRM_SHIM);
        return TEST_SKIPPED;
    }
    if (!realpath("/proc/self/exe", program)) {
        perror("/proc/self/exe");
        return 1;
    }
    unsigned run = 0, left_out = 0;
    const bool excludes = argc > 1 && argv[1][0] == '-';
    for (; stories->name; stories++) {
        if (argc > 1 && (strstr(stories->name, argv[1] + excludes) != NULL) == excludes) {
            left_out++;
            continue;
        }
        run++;
        failed += !run_story(program, stories);
    }
    if (run == 0 || (excludes && left_out == 0)) {
        printf("no story has this name: %s\n", argc > 1 ? argv[1] : "");
        failed++;
    }
    return failed > 0;
}

// ---- The trace ----

static unsigned hex_digit(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a' + 10);
}

static void read_bytes(const char *line, const char *name, struct intel_command *command)
{
    const char *at = strstr(line, name);
    if (!at)
        return;
    for (at += strlen(name); command->payload_bytes < INTEL_PAYLOAD && isxdigit((unsigned char)*at);
         at += 2) {
        command->payload[command->payload_bytes++] =
            (uint8_t)(hex_digit(at[0]) << 4 | hex_digit(at[1]));
    }
}

// A number behind a word, 0 without the word.
static uint64_t number_behind(const char *line, const char *word)
{
    const char *at = strstr(line, word);
    return at ? strtoull(at + strlen(word), NULL, 0) : 0;
}

static void read_three(const char *line, const char *word, unsigned out[3])
{
    const char *at = strstr(line, word);
    char *end;
    for (int i = 0; at && i < 3; i++) {
        out[i] = (unsigned)strtoul(i == 0 ? at + strlen(word) : at, &end, 10);
        at = end;
    }
}

static void read_command(const char *line, struct intel_command *command)
{
    static const char *const kinds[] = {"begin ", "end ", "copy ", "fill "};
    char *text;
    command->sequence = strtoull(line, &text, 10);
    text += *text == ' ';
    command->kind = INTEL_OTHER;
    for (int i = 0; i < INTEL_OTHER; i++) {
        if (strncmp(text, kinds[i], strlen(kinds[i])) == 0)
            command->kind = (enum intel_command_kind)i;
    }
    snprintf(command->text, sizeof(command->text), "%s", line);
    command->queue = (unsigned)number_behind(text, " queue ");
    command->kernel = number_behind(text, " kernel ");
    command->slm_bytes = (unsigned)number_behind(text, " slm ");
    command->to = number_behind(text, " to ");
    command->from = number_behind(text, " from ");
    command->width = number_behind(text, " width ");
    command->height = number_behind(text, " height ");
    read_three(text, " groups ", command->groups);
    read_three(text, " local ", command->local);
    if (command->kind != INTEL_BEGIN)
        return;
    read_bytes(text, " inline ", command);
    read_bytes(text, " indirect ", command);
}

struct intel_trace intel_trace_read(void)
{
    static long read_before;
    struct intel_trace trace = {0};
    size_t capacity = 0;
    char *line = NULL;
    size_t room = 0;
    FILE *file = fopen(getenv("DRM_SHIM_TRACE"), "r");
    if (!file)
        return trace;
    fseek(file, read_before, SEEK_SET);
    while (getline(&line, &room, file) > 0) {
        if (trace.count == capacity) {
            capacity = capacity ? 2 * capacity : 64;
            trace.commands = realloc(trace.commands, capacity * sizeof(*trace.commands));
            INTEL_EXPECT(trace.commands, "out of memory");
        }
        trace.commands[trace.count] = (struct intel_command){0};
        read_command(line, &trace.commands[trace.count++]);
    }
    read_before = ftell(file);
    fclose(file);
    free(line);
    return trace;
}

void intel_trace_finish(struct intel_trace *trace)
{
    free(trace->commands);
    *trace = (struct intel_trace){0};
}

size_t intel_trace_count(const struct intel_trace *trace, enum intel_command_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < trace->count; i++)
        count += trace->commands[i].kind == kind;
    return count;
}

void intel_set_faults(const char *text)
{
    bool (*set)(const char *);
    void *symbol = shim_function("drm_shim_set_faults");
    memcpy(&set, &symbol, sizeof(symbol));
    INTEL_EXPECT(set(text), "faults are refused: %s", text);
}

static void set_time(const char *function, unsigned microseconds)
{
    void (*set)(uint64_t);
    void *symbol = shim_function(function);
    memcpy(&set, &symbol, sizeof(symbol));
    set(microseconds);
}

void intel_set_kernel_time(unsigned microseconds)
{
    set_time("drm_shim_set_kernel_us", microseconds);
}

void intel_set_submit_time(unsigned microseconds)
{
    set_time("drm_shim_set_submit_us", microseconds);
}

void intel_set_return_time(unsigned microseconds)
{
    set_time("drm_shim_set_return_us", microseconds);
}
