// SPDX-License-Identifier: MIT
// The model test of tests/stress/model on Intel's driver: MODEL_SECONDS, shared by the stories, and
// MODEL_SEED as there.
#include "model/model.h"

#include "intel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *program;

static void run(const char *story, double part)
{
    char again[512];
    const char *given = getenv("MODEL_SEED");
    const char *limit = getenv("MODEL_SECONDS");
    const double seconds = part * (limit ? strtod(limit, NULL) : 2.0);
    const uint32_t seed =
        given ? (uint32_t)strtoul(given, NULL, 10) : (uint32_t)(model_now_ns() / 1000);
    snprintf(again, sizeof(again), "%s %s", program, story);
    world.frees_wait = true;
    const unsigned rounds = model_run(seed, seconds, given != NULL, again);
    printf("seeds %u to %u, %llu operations, ", seed, seed + rounds - 1,
           (unsigned long long)atomic_load(&world.operations));
    fflush(stdout);
}

static void memory_is_as_in_the_model(void)
{
    run("memory_is_as_in_the_model", 0.7);
}

static void without_the_newer_functions(void)
{
    run("without_the_newer_functions", 0.3);
}

#define EXECUTE "DRM_SHIM_EXEC=1"

static const struct intel_story stories[] = {
    {"memory_is_as_in_the_model", memory_is_as_in_the_model, {EXECUTE}},
    {"without_the_newer_functions",
     without_the_newer_functions,
     {EXECUTE, "ZEPI_NEWER_FUNCTIONS=off"}},
    {0}};

int main(int argc, char **argv)
{
    char *const first[] = {argv[0], (char *)stories[0].name};
    program = argv[0];
    // In a few seconds there is no time for a second process.
    if (argc == 1 && !getenv("MODEL_SECONDS"))
        return intel_main(2, (char **)first, stories);
    return intel_main(argc, argv, stories);
}
