// SPDX-License-Identifier: MIT
// A second process links without compiling: it finds native code on the disk. Calls itself for each
// process, with ZE_CPU_COUNT=1, and reads the driver's counts.
#include "test_env.h"
#include "test_plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OBJECTS 4

static int link_and_run(zepi_link_method_t method, const char *folder)
{
    static const char *const names[] = {"link_top", "link_left", "link_right", "link_base"};
    const zepi_build_desc_t desc = {.size = sizeof(desc), .link_method = method};
    zepi_module_t objects[OBJECTS];
    zepi_module_t module;
    zepi_kernel_t kernel;
    int32_t *memory;
    test_env_use_ze_cpu();
    setenv("ZEPI_CACHE_DIR", folder, 1);
    test_plugin_load();
    struct test_gear gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    for (int i = 0; i < OBJECTS; i++)
        objects[i] = test_object(gear.context, names[i]);
    TEST_OK(zepi.module_link(OBJECTS, objects, &desc, &module));
    TEST_OK(zepi.module_get_kernel(module, "diamond", &kernel));
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 4, 0, (void **)&memory));
    *memory = 2;
    const zepi_argument_t argument = TEST_POINTER(memory);
    const zepi_launch_desc_t launch = test_launch(kernel, 1, &argument, 1);
    TEST_OK(zepi.queue_launch(gear.queue, &launch, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    const bool is_right = *memory == 551;
    if (!is_right)
        fprintf(stderr, "a wrong number: %d\n", *memory);
    TEST_OK(zepi.usm_free(gear.context, memory));
    TEST_OK(zepi.release(kernel));
    TEST_OK(zepi.release(module));
    for (int i = 0; i < OBJECTS; i++)
        TEST_OK(zepi.release(objects[i]));
    test_gear_destroy(&gear);
    test_plugin_unload();
    return is_right ? 0 : 1;
}

// Runs this program as a process of its own. Returns how many modules it made from SPIR-V.
static long run_process(const char *program, const char *method, const char *folder)
{
    char command[8192];
    char line[256];
    long compiled = -1;
    snprintf(command, sizeof(command), "ZE_CPU_COUNT=1 '%s' %s '%s' 2>&1", program, method, folder);
    FILE *output = popen(command, "r");
    if (!output) {
        perror("popen");
        exit(1);
    }
    while (fgets(line, sizeof(line), output)) {
        static const char head[] = "ze_cpu: count: compile:spirv ";
        if (strncmp(line, head, sizeof(head) - 1) == 0)
            compiled = strtol(line + sizeof(head) - 1, NULL, 10);
        else if (strncmp(line, "ze_cpu: count:", 14) != 0)
            fputs(line, stderr);
    }
    if (pclose(output) != 0 || compiled < 0) {
        fprintf(stderr, "the process failed: %s\n", command);
        exit(1);
    }
    return compiled;
}

int main(int argc, char **argv)
{
    if (argc > 2)
        return link_and_run(argv[1][0] == 'p' ? ZEPI_LINK_PROGRAM : ZEPI_LINK_DYNAMIC, argv[2]);
    static const char *const methods[] = {"program", "dynamic"};
    unsetenv("ZEPI_COMPILER"); // the processes count their compiles
    for (int i = 0; i < 2; i++) {
        const char *folder = test_env_scratch_path(methods[i]);
        // Four objects, and as a program the whole once more.
        const long first = run_process(argv[0], methods[i], folder);
        const long second = run_process(argv[0], methods[i], folder);
        if (first != (i == 0 ? 5 : 4) || second != 0) {
            fprintf(stderr,
                    "%s: %ld compiles from SPIR-V in the first process, %ld in the second\n",
                    methods[i], first, second);
            return 1;
        }
    }
    return 0;
}
