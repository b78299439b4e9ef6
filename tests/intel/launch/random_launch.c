// SPDX-License-Identifier: MIT
#include "random_launch.h"

#include "intel.h"

const char *const random_kernel_names[RANDOM_KERNELS] = {"store_values", "sum_groups", "store_ids",
                                                         "empty"};

static void choose_values(struct random_launch *launch, char *memory)
{
    const uint64_t r = intel_random();
    // One in four repeats what many launches have.
    const bool is_usual = r % 4 == 0;
    launch->a = (char)(is_usual ? 1 : r);
    launch->b = (short)(is_usual ? 2 : r >> 8);
    launch->c = is_usual ? 3 : (int)(r >> 32);
    launch->d = is_usual ? 4 : (long)intel_random();
    launch->e = (float)(r & 0xffff) / 3;
    for (int i = 0; i < 4; i++)
        launch->f[i] = (int)intel_random();
    launch->g.first = (char)(r >> 16);
    launch->g.second = (long)intel_random();
    for (int i = 0; i < 2; i++)
        launch->pointers[i] = memory + intel_random() % RANDOM_MEMORY_BYTES / 64 * 64;
    launch->local_bytes = 4u << intel_random() % 12;
}

// One to three dimensions, with and without a group size and offsets.
static void choose_sizes(struct random_launch *launch)
{
    size_t room = 256;
    launch->work_dim = 1 + (uint32_t)(intel_random() % 3);
    const bool is_suggested = intel_random() % 3 == 0;
    for (uint32_t i = 0; i < 3; i++) {
        const bool is_used = i < launch->work_dim;
        size_t group = is_used ? (size_t)1 << intel_random() % 5 : 1;
        group = group <= room ? group : 1;
        room /= group;
        launch->global[i] = is_used ? group * (1 + intel_random() % 7) : 1;
        launch->local[i] = is_suggested ? 0 : group;
        launch->offset[i] = 0;
    }
    if (launch->kernel != STORE_IDS || intel_random() % 2)
        return;
    for (uint32_t i = 0; i < launch->work_dim; i++)
        launch->offset[i] = intel_random() % 1000;
}

static void expect(const struct random_launch *launch, struct payload_launch *expected)
{
    *expected = (struct payload_launch){.kernel = (int)launch->kernel};
    expected->has_local = launch->kernel == SUM_GROUPS || launch->kernel == STORE_IDS;
    for (int i = 0; i < 3; i++) {
        const uint32_t offset = (uint32_t)launch->offset[i];
        expected->global[i] = (uint32_t)launch->global[i];
        expected->local[i] = (uint32_t)launch->local[i];
        if (launch->kernel == STORE_IDS)
            payload_expect(expected, &offset, sizeof(offset));
    }
    if (launch->kernel == STORE_VALUES) {
        payload_expect(expected, &launch->a, sizeof(launch->a));
        payload_expect(expected, &launch->b, sizeof(launch->b));
        payload_expect(expected, &launch->c, sizeof(launch->c));
        payload_expect(expected, &launch->d, sizeof(launch->d));
        payload_expect(expected, &launch->e, sizeof(launch->e));
        payload_expect(expected, launch->f, sizeof(launch->f));
        payload_expect(expected, &launch->g.first, sizeof(launch->g.first));
        payload_expect(expected, &launch->g.second, sizeof(launch->g.second));
    }
    if (launch->kernel != EMPTY)
        payload_expect(expected, &launch->pointers[0], sizeof(void *));
    if (launch->kernel != SUM_GROUPS)
        return;
    payload_expect(expected, &launch->pointers[1], sizeof(void *));
    expected->local_bytes = launch->local_bytes;
}

struct random_launch random_launch_choose(char *memory, struct payload_launch *out_expected)
{
    struct random_launch launch = {.kernel = (enum random_kernel)(intel_random() % RANDOM_KERNELS)};
    choose_values(&launch, memory);
    choose_sizes(&launch);
    expect(&launch, out_expected);
    return launch;
}
