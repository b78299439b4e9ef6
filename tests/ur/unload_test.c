// SPDX-License-Identifier: MIT
// The adapter opened, used and closed a thousand times, as a host's plugins do it: nothing is left.
#include "test_env.h"
#include "ur_fixture.h"

#include <stdio.h>
#include <string.h>

#define TIMES (TEST_IS_MEASURABLE ? 1000 : 50)
// Of half of the rounds: 80 bytes a round are the test's own paths, the OpenCL runtime keeps 64 of
// each program, and the C library 48 of the function that it is to call as the main thread ends.
#define GROWTH_BYTES ((size_t)TIMES * (TEST_IS_MEASURABLE ? 105 : 2000))

static bool has_library(const char *name)
{
    char line[8192];
    bool has = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    TEST_EXPECT(maps != NULL, "there is no /proc");
    while (!has && fgets(line, sizeof(line), maps))
        has = strstr(line, name) != NULL;
    fclose(maps);
    return has;
}

// A kernel that is built, launched and awaited.
static void use_device(void)
{
    int32_t by = 3;
    ur_kernel_handle_t kernel = ur_kernel("counter", "count");
    int32_t *memory = ur_shared(sizeof(*memory));
    ur_event_handle_t event;
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_VALUE(0, by), UR_POINTER(1, memory)};
    UR_OK(ur_launch(gear.queue, kernel, 1, 2, arguments, 0, NULL, &event));
    UR_OK(urEventWait(1, &event));
    TEST_EXPECT(*memory == by, "a kernel does not count");
    UR_OK(urEventRelease(event));
    ur_free(memory);
    UR_OK(urKernelRelease(kernel));
}

int main(void)
{
    size_t bytes = 0;
    int descriptors = 0;
    for (int i = 0; i < TIMES; i++) {
        ur_set_up();
        use_device();
        ur_tear_down();
        TEST_EXPECT(!has_library("libur_adapter_zepi") && !has_library("libzepi"),
                    "a library is left after dlclose");
        if (i == TIMES / 2) {
            bytes = test_env_allocated_bytes();
            descriptors = test_env_count_descriptors();
        }
    }
    const size_t end_bytes = test_env_allocated_bytes();
    printf("%zu bytes at half time, %zu at the end; %d descriptors\n", bytes, end_bytes,
           descriptors);
    TEST_EXPECT(end_bytes < bytes + GROWTH_BYTES, "memory is left after dlclose");
    TEST_EXPECT(test_env_count_descriptors() == descriptors, "descriptors are left after dlclose");
    return 0;
}
