// SPDX-License-Identifier: MIT
// The model test on ze_cpu, in processes of some seconds: each has one of the driver's guises.
//   MODEL_SECONDS=N PROGRAM [GUISE]   N seconds, of this guise alone
//   MODEL_SEED=N PROGRAM GUISE        the round of a failing seed, over and over
// intel.model and intel.ur_model are the same on Intel's driver.
#include "model.h"

#include "test_env.h"
#include "test_ze_cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS_OF_PROCESS 8.0
#define LEAST_SECONDS 1.5

struct guise {
    const char *name;
    const char *environment[4][2];
};

// The first one has most of what is remembered: every third process is of it.
static const struct guise guises[] = {
    {"two_discrete", {{"ZE_CPU_DEVICES", "2"}, {"ZE_CPU_INTEGRATED", "0"}}},
    {"integrated", {{"ZE_CPU_INTEGRATED", "1"}}},
    {"discrete", {{"ZE_CPU_INTEGRATED", "0"}}},
    {"two_integrated", {{"ZE_CPU_DEVICES", "2"}}},
    {"strangers", {{"ZE_CPU_DEVICES", "2"}, {"ZE_CPU_INTEGRATED", "0"}, {"ZE_CPU_PEERS", "0"}}},
    {"no_append", {{"ZE_CPU_APPEND_LISTS", "0"}}},
    {"no_mutable", {{"ZE_CPU_WITHOUT", "ZE_experimental_mutable_command_list"}}},
    {"no_counter", {{"ZE_CPU_WITHOUT", "ZE_experimental_event_pool_counter_based"}}},
    {"old", {{"ZEPI_NEWER_FUNCTIONS", "off"}}},
    {"old_discrete",
     {{"ZEPI_NEWER_FUNCTIONS", "off"}, {"ZE_CPU_DEVICES", "2"}, {"ZE_CPU_INTEGRATED", "0"}}},
    {"unpooled", {{"ZEPI_USM_POOL", "off"}}},
};
enum { GUISES = sizeof(guises) / sizeof(guises[0]) };

static const char *program;
static const char *cache; // of all processes

static int run_in_process(const struct guise *guise, uint32_t seed, double seconds, bool repeat)
{
    char again[512];
    for (int i = 0; i < 4 && guise->environment[i][0]; i++)
        setenv(guise->environment[i][0], guise->environment[i][1], 1);
    const struct test_ze_cpu ze_cpu_here = test_ze_cpu_use();
    setenv("ZEPI_CACHE_DIR", cache, 1);
    char order[16];
    snprintf(order, sizeof(order), "%u", seed | 1);
    setenv("ZE_CPU_REORDER", order, 0);
    snprintf(again, sizeof(again), "%s %s", program, guise->name);
    world.buffers_wait = strcmp(guise->name, "strangers") == 0;
    const unsigned rounds = model_run(seed, seconds, repeat, again);
    if (ze_cpu_here.get_live_objects() != 0) {
        fprintf(stderr, "model: objects are left in the driver\n");
        return 1;
    }
    printf("model: %s: seeds %u to %u, %llu operations\n", guise->name, seed, seed + rounds - 1,
           (unsigned long long)atomic_load(&world.operations));
    return 0;
}

static bool run_guise(const struct guise *guise, uint32_t seed, double seconds, bool repeat)
{
    int status = 1;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        exit(run_in_process(guise, seed, seconds, repeat));
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror("fork");
        return false;
    }
    if (WIFSIGNALED(status))
        fprintf(stderr, "model: %s: signal %d\n", guise->name, WTERMSIG(status));
    return status == 0;
}

static const struct guise *find_guise(const char *name)
{
    for (size_t i = 0; name && i < GUISES; i++) {
        if (strcmp(guises[i].name, name) == 0)
            return &guises[i];
    }
    return NULL;
}

int main(int argc, char **argv)
{
    const char *given = getenv("MODEL_SEED");
    const char *limit = getenv("MODEL_SECONDS");
    const double seconds = limit ? strtod(limit, NULL) : 2.5;
    const struct guise *chosen = find_guise(argc > 1 ? argv[1] : NULL);
    uint32_t seed = given ? (uint32_t)strtoul(given, NULL, 10) : (uint32_t)(model_now_ns() / 1000);
    const uint64_t end = model_now_ns() + (uint64_t)(seconds * 1e9);
    double left = seconds;
    program = argv[0];
    if (argc > 1 && !chosen) {
        printf("there is no guise %s\n", argv[1]);
        return 2;
    }
    cache = test_env_scratch_path("model_cache");
    for (uint32_t i = 0; left > 0; i++) {
        const struct guise *guise = chosen ? chosen : &guises[i % 3 == 0 ? 0 : (seed + i) % GUISES];
        double share = seconds / 2 < LEAST_SECONDS ? LEAST_SECONDS : seconds / 2;
        if (share > SECONDS_OF_PROCESS)
            share = SECONDS_OF_PROCESS;
        if (given)
            share = seconds;
        if (!run_guise(guise, seed + (given ? 0 : 1000 * i), share, given != NULL))
            return 1;
        left = ((double)end - (double)model_now_ns()) / 1e9;
    }
    return 0;
}
