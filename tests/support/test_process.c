// SPDX-License-Identifier: MIT
#include "test_process.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct test_process test_process_run(const char *arguments)
{
    return test_process_end(test_process_start(arguments));
}

FILE *test_process_start(const char *arguments)
{
    char command[4096];
    snprintf(command, sizeof(command), "exec '%s' %s", TEST_CACHE_PROCESS, arguments);
    return popen(command, "r"); // NOLINT(cert-env33-c): the command is ours
}

struct test_process test_process_end(FILE *output)
{
    struct test_process process = {.result = -1};
    char line[1024];
    while (output && fgets(line, sizeof(line), output)) {
        if (sscanf(line,
                   "result=%d builds=%" SCNu64 " store_hits=%" SCNu64 " build_us=%" SCNu64
                   " again_us=%" SCNu64 " spirv=%" SCNu64 " native=%" SCNu64 " log=%63s",
                   &process.result, &process.builds, &process.store_hits, &process.build_us,
                   &process.again_us, &process.spirv, &process.native, process.log) != 8)
            process.result = -1;
    }
    if (!output || pclose(output) != 0 || process.result < 0) {
        fprintf(stderr, "test process: '%s' fails\n", TEST_CACHE_PROCESS);
        exit(1);
    }
    return process;
}
