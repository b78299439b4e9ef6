// SPDX-License-Identifier: MIT
//
// Instructions of a module build that the cache answers, from the call through the table to the
// returned module: the difference of two runs of this program under callgrind, counting inside
// counted_ functions alone, that differ in the number of builds. What builds does not count: it
// costs more or less by what is on the disk. The null driver serves, since a hit asks no driver.
// Without arguments it makes the runs and judges. With "KIND N" it makes N builds: "plain" without
// values, "values" with three, "options" with options, too, "changed" with values that are set
// before each build, which is not judged: there the key is made anew. "whole" counts all that a
// host does that keeps nothing: a module is made of the image's bytes, a value is set, and what was
// built is released again. "silent N" makes builds where the kernel ends a process that makes a
// system call.
#include "test_env.h"
#include "test_plugin.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WARM = 4, FEW = 1000, MANY = 3000 };

static const struct kind {
    const char *name;
    double limit; // 0: not judged
} kinds[] = {
    {"plain", 330}, {"values", 340}, {"options", 400}, {"changed", 1000}, {"whole", 1800},
};

static bool is_kind(const char *kind, const char *name)
{
    return strcmp(kind, name) == 0;
}

static void set_values(zepi_module_t input, int32_t number)
{
    const float scale = 2.5f;
    const int16_t small = 3;
    const zepi_spec_value_t values[] = {{7, 4, &number}, {3, 4, &scale}, {5, 2, &small}};
    TEST_OK(zepi.spec_constant_set_many(input, 3, values));
}

static void make_and_release(zepi_context_t context, const zepi_image_desc_t *image)
{
    const int32_t number = 5;
    zepi_module_t input;
    zepi_module_t executable;
    zepi_kernel_t kernel;
    TEST_OK(zepi.module_create(context, ZEPI_MODULE_INPUT, 1, image, &input));
    TEST_OK(zepi.spec_constant_set(input, 7, sizeof(number), &number));
    TEST_OK(zepi.module_build(input, NULL, &executable));
    TEST_OK(zepi.module_get_kernel(executable, "scaled_copy_int", &kernel));
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(executable));
    TEST_OK(zepi.release(input));
}

__attribute__((noinline)) static void counted_whole(zepi_context_t context,
                                                    const zepi_image_desc_t *image)
{
    make_and_release(context, image);
}

__attribute__((noinline)) static zepi_module_t counted_build(zepi_module_t input,
                                                             const zepi_build_desc_t *desc)
{
    zepi_module_t executable;
    TEST_OK(zepi.module_build(input, desc, &executable));
    return executable;
}

static void build_and_release(zepi_module_t input, const zepi_build_desc_t *desc)
{
    zepi_module_t executable;
    TEST_OK(zepi.module_build(input, desc, &executable));
    TEST_OK(zepi.release(executable));
}

// From here on the kernel ends the process at any system call but exit. (Its strict mode would also
// forbid the processor's clock.)
static bool forbid_system_calls(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    const struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static int run(const char *kind, unsigned long count)
{
    const zepi_build_desc_t desc = {.size = sizeof(desc), .options = "-cl-mad-enable"};
    const zepi_build_desc_t *options =
        is_kind(kind, "options") || is_kind(kind, "silent") ? &desc : NULL;
    const bool is_changed = is_kind(kind, "changed");
    zepi_cache_counters_t counters = {.size = sizeof(counters)};
    test_env_use_null_driver();
    unsetenv("ZE_ENABLE_TRACING_LAYER");
    unsetenv("ZE_ENABLE_VALIDATION_LAYER");
    test_plugin_load();
    struct test_gear gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    const zepi_image_desc_t image = test_spirv_image("scaled_copy");
    zepi_module_t input = test_input(gear.context, "scaled_copy");
    // The first ones build, and make what a thread and an input make once.
    for (int i = 0; i < WARM; i++) {
        make_and_release(gear.context, &image);
        if (!is_kind(kind, "plain"))
            set_values(input, 5 + (is_changed ? i % 2 : 0));
        build_and_release(input, options);
    }
    TEST_OK(zepi.cache_get_counters(gear.context, ZEPI_CACHE_MODULES, &counters));
    const uint64_t misses = counters.misses;
    if (is_kind(kind, "silent") && !forbid_system_calls())
        exit(TEST_SKIPPED);
    for (unsigned long i = 0; i < count; i++) {
        if (is_changed)
            set_values(input, 5 + (int32_t)(i % 2));
        if (is_kind(kind, "whole"))
            counted_whole(gear.context, &image);
        else
            TEST_OK(zepi.release(counted_build(input, options)));
    }
    if (is_kind(kind, "silent"))
        syscall(SYS_exit, 0);
    TEST_OK(zepi.cache_get_counters(gear.context, ZEPI_CACHE_MODULES, &counters));
    TEST_OK(zepi.release(input));
    test_gear_destroy(&gear);
    test_plugin_unload();
    return counters.misses == misses ? 0 : 1;
}

// Whether hits make no system call.
static bool is_silent(void)
{
    char self[512];
    int status = -1;
    const ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    self[length > 0 ? length : 0] = '\0';
    const pid_t child = fork();
    if (child == 0) {
        execl(self, self, "silent", "1000", (char *)NULL);
        _exit(1);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return false;
    if (WIFEXITED(status) && WEXITSTATUS(status) == TEST_SKIPPED) {
        puts("system calls: not judged, there is no seccomp");
        return true;
    }
    const bool is_good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    printf("a build that the cache answers makes %s system call\n", is_good ? "no" : "a");
    return is_good;
}

// Instructions inside counted_ functions, of this program with these arguments, or 0 if callgrind
// did not say.
static unsigned long long count_instructions(const char *arguments)
{
    char self[512];
    char command[1024];
    char line[512];
    unsigned long long instructions = 0;
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (length < 0)
        return 0;
    self[length] = '\0';
    snprintf(command, sizeof(command),
             "valgrind --tool=callgrind --toggle-collect='counted_*' "
             "--callgrind-out-file=/dev/null '%s' %s 2>&1",
             self, arguments);
    FILE *output = popen(command, "r"); // NOLINT(cert-env33-c): the command is ours
    if (!output)
        return 0;
    while (fgets(line, sizeof(line), output)) {
        const char *found = strstr(line, "Collected : ");
        if (found)
            instructions = strtoull(found + strlen("Collected : "), NULL, 10);
    }
    return pclose(output) == 0 ? instructions : 0;
}

static double instructions_each(const struct kind *kind)
{
    char few[32];
    char many[32];
    snprintf(few, sizeof(few), "%s %d", kind->name, FEW);
    snprintf(many, sizeof(many), "%s %d", kind->name, MANY);
    unsigned long long less = count_instructions(few);
    unsigned long long more = count_instructions(many);
    return less > 0 && more > 0 ? (double)(more - less) / (MANY - FEW) : 0;
}

int main(int argc, char **argv)
{
    bool is_good = true;
    if (argc == 3)
        return run(argv[1], strtoul(argv[2], NULL, 10));
    if (!TEST_IS_MEASURABLE) {
        puts("skipped: counts of a build with sanitizers or without optimisation say nothing");
        return TEST_SKIPPED;
    }
    is_good = is_silent();
    if (system("valgrind --version >/dev/null 2>&1") != 0) { // NOLINT(cert-env33-c)
        puts("skipped: there is no valgrind");
        return is_good ? TEST_SKIPPED : 1;
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const double cost = instructions_each(&kinds[i]);
        const bool is_judged = kinds[i].limit > 0;
        printf("a build that the cache answers, %s: %.0f instructions%s\n", kinds[i].name, cost,
               is_judged ? "" : " (not judged)");
        is_good = is_good && cost > 0 && (!is_judged || cost < kinds[i].limit);
    }
    return is_good ? 0 : 1;
}
