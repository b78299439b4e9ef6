// SPDX-License-Identifier: MIT
//
// Instructions of a launch by name whose build is in the cache, beyond those of the launch of a
// kernel object: differences of runs of this program under callgrind, counting inside
// counted_launch alone, that differ in the number of launches. What builds is launched before, and
// does not count: it costs more or less by what is on the disk. The null driver serves. Without
// arguments it makes the runs and judges. With "KIND N" it makes N launches: "object" of a kernel
// object, "default" from a unit, "values" with three values, "turns" with two sets of values in
// turns, "module" from a module that the launch names, "module_values" with values next to it,
// "object_values" of a kernel object with values, "changed" with the next of 64 values each time.
// "silent N" makes them where the kernel ends a process that makes a system call.
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

enum { WARM = 128, FEW = 1000, MANY = 3000, LIMIT_INSTRUCTIONS = 400 };

static const char unit;

static bool is_kind(const char *kind, const char *name)
{
    return strcmp(kind, name) == 0;
}

// From here on the kernel ends the process at any system call but exit.
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

struct story {
    struct test_gear gear;
    zepi_module_t input;
    zepi_module_t executable;
    zepi_kernel_t kernel;
    int32_t number;
    float scale;
    int16_t small;
    zepi_spec_value_t values[3];
    zepi_argument_t arguments[2];
    zepi_launch_desc_t desc;
};

static void set_up(struct story *story, const char *kind)
{
    const zepi_image_desc_t image = test_spirv_image("scaled_copy");
    void *memory;
    test_plugin_load();
    story->gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    story->number = 5;
    story->scale = 2.5f;
    story->small = 3;
    story->values[0] = (zepi_spec_value_t){7, 4, &story->number};
    story->values[1] = (zepi_spec_value_t){3, 4, &story->scale};
    story->values[2] = (zepi_spec_value_t){5, 2, &story->small};
    TEST_OK(zepi.unit_register(&unit, 1, &image));
    TEST_OK(zepi.module_create(story->gear.context, ZEPI_MODULE_INPUT, 1, &image, &story->input));
    TEST_OK(zepi.spec_constant_set_many(story->input, 3, story->values));
    TEST_OK(zepi.module_build(story->input, NULL, &story->executable));
    TEST_OK(zepi.module_get_kernel(story->executable, "scaled_copy_int", &story->kernel));
    TEST_OK(zepi.usm_allocate(story->gear.context, story->gear.device, ZEPI_USM_DEVICE, 4096, 0,
                              &memory));
    story->arguments[0] = TEST_POINTER(memory);
    story->arguments[1] = TEST_POINTER(memory);
    story->desc = test_launch(NULL, 2, story->arguments, 64);
    story->desc.group_size[0] = 64;
    story->desc.kernel_name = "scaled_copy_int";
    if (is_kind(kind, "object") || is_kind(kind, "object_values"))
        story->desc.kernel = story->kernel;
    else if (is_kind(kind, "module") || is_kind(kind, "module_values"))
        story->desc.module = story->executable;
    else
        story->desc.unit = &unit;
    if (!is_kind(kind, "object") && !is_kind(kind, "module") && !is_kind(kind, "default")) {
        story->desc.spec_values = story->values;
        story->desc.spec_value_count = 3;
    }
}

// The values of launch number i.
static void turn(struct story *story, const char *kind, unsigned long i)
{
    if (is_kind(kind, "turns"))
        story->number = 5 + (int32_t)(i % 2);
    if (is_kind(kind, "changed"))
        story->number = 5 + (int32_t)(i % 64);
}

__attribute__((noinline)) static void counted_launch(const struct story *story)
{
    TEST_OK(zepi.queue_launch(story->gear.queue, &story->desc, TEST_NO_WAIT, NULL));
}

static int run(const char *kind, unsigned long count)
{
    struct story story;
    test_env_use_null_driver();
    unsetenv("ZE_ENABLE_TRACING_LAYER");
    unsetenv("ZE_ENABLE_VALIDATION_LAYER");
    set_up(&story, kind);
    // The first ones build, and make what a thread and a queue make once.
    for (unsigned long i = 0; i < WARM; i++) {
        turn(&story, kind, i);
        TEST_OK(zepi.queue_launch(story.gear.queue, &story.desc, TEST_NO_WAIT, NULL));
    }
    if (is_kind(kind, "silent") && !forbid_system_calls())
        exit(TEST_SKIPPED);
    for (unsigned long i = 0; i < count; i++) {
        turn(&story, kind, i);
        counted_launch(&story);
    }
    if (is_kind(kind, "silent"))
        syscall(SYS_exit, 0);
    TEST_OK(zepi.usm_free(story.gear.context, (void *)story.arguments[0].value));
    TEST_OK(zepi.release(story.kernel));
    TEST_OK(zepi.release(story.executable));
    TEST_OK(zepi.release(story.input));
    TEST_OK(zepi.unit_unregister(&unit));
    test_gear_destroy(&story.gear);
    test_plugin_unload();
    return 0;
}

// Whether repeated launches make no system call.
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
    printf("a launch by name that is repeated makes %s system call\n", is_good ? "no" : "a");
    return is_good;
}

// Instructions of this program with these arguments, or 0 if callgrind did not say.
static unsigned long long count_instructions(const char *arguments)
{
    char self[512];
    char command[1024];
    char line[512];
    unsigned long long instructions = 0;
    const ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (length < 0)
        return 0;
    self[length] = '\0';
    snprintf(command, sizeof(command),
             "valgrind --tool=callgrind --toggle-collect=counted_launch "
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

static double instructions_each(const char *kind)
{
    char few[32];
    char many[32];
    snprintf(few, sizeof(few), "%s %d", kind, FEW);
    snprintf(many, sizeof(many), "%s %d", kind, MANY);
    const unsigned long long less = count_instructions(few);
    const unsigned long long more = count_instructions(many);
    return less > 0 && more > less ? (double)(more - less) / (MANY - FEW) : 0;
}

int main(int argc, char **argv)
{
    static const char *const kinds[] = {"default",       "values",        "turns",  "module",
                                        "module_values", "object_values", "changed"};
    if (argc == 3)
        return run(argv[1], strtoul(argv[2], NULL, 10));
    if (!TEST_IS_MEASURABLE) {
        puts("skipped: counts of a build with sanitizers or without optimisation say nothing");
        return TEST_SKIPPED;
    }
    bool is_good = is_silent();
    if (system("valgrind --version >/dev/null 2>&1") != 0) { // NOLINT(cert-env33-c)
        puts("skipped: there is no valgrind");
        return is_good ? TEST_SKIPPED : 1;
    }
    const double object = instructions_each("object");
    printf("a launch of a kernel object: %.0f instructions\n", object);
    is_good = is_good && object > 0;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const double cost = instructions_each(kinds[i]);
        printf("%s: %.0f instructions more\n", kinds[i], cost - object);
        is_good = is_good && cost > 0 && cost - object < LIMIT_INSTRUCTIONS;
    }
    return is_good ? 0 : 1;
}
