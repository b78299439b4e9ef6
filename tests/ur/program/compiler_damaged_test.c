// SPDX-License-Identifier: MIT
// Modules that were damaged at random and pass zepi's walk, with the compiler in processes of its
// own (ZEPI_COMPILER=process): some hundred through each front end, and the host lives.
#include "test_damage.h"
#include "test_env.h"
#include "test_plugin.h"
#include "ur_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define WORDS_MAX 65536

static const char *const names[] = {"vector_add", "scaled_copy", "counter",        "negate",
                                    "spec_types", "execution",   "twenty_kernels", "images"};
#define NAMES (sizeof(names) / sizeof(names[0]))

static struct test_gear table_gear;
static struct {
    unsigned built, failed, died, stopped;
} seen;

static void damage(uint32_t *words, size_t count)
{
    for (uint32_t changes = 1 + test_random_below(3); changes > 0; changes--)
        test_damage_word(words, count, TEST_DAMAGE_MILD);
}

static void note(bool is_built, const char *error)
{
    seen.built += is_built;
    seen.failed += !is_built;
    seen.died += !is_built && strstr(error, "died of");
    seen.stopped += !is_built && strstr(error, "was stopped");
}

// False: the walk refuses it.
static bool build_through_table(const void *bytes, size_t size_bytes)
{
    zepi_module_t input;
    zepi_module_t output = NULL;
    const zepi_device_image_desc_t image = {.size = sizeof(image),
                                            .format = ZEPI_DEVICE_IMAGE_SPIRV,
                                            .state = ZEPI_MODULE_INPUT,
                                            .bytes = bytes,
                                            .size_bytes = size_bytes};
    if (zepi.module_create(table_gear.context, ZEPI_MODULE_INPUT, 1, &image, &input) !=
        ZEPI_SUCCESS)
        return false;
    const zepi_result_t result = zepi.module_build(input, NULL, &output);
    note(result == ZEPI_SUCCESS, zepi.last_error(NULL));
    TEST_EXPECT(result != ZEPI_ERROR_COMPILER_UNAVAILABLE, zepi.last_error(NULL));
    if (result == ZEPI_SUCCESS)
        TEST_OK(zepi.release(output));
    TEST_OK(zepi.release(input));
    return true;
}

static bool build_through_ur(const void *bytes, size_t size_bytes)
{
    ur_program_handle_t program;
    if (urProgramCreateWithIL(gear.context, bytes, size_bytes, NULL, &program) != UR_RESULT_SUCCESS)
        return false;
    const ur_result_t result = urProgramBuild(gear.context, program, NULL);
    note(result == UR_RESULT_SUCCESS, ur_last_error());
    TEST_EXPECT(result != UR_RESULT_ERROR_COMPILER_NOT_AVAILABLE, ur_last_error());
    UR_OK(urProgramRelease(program));
    return true;
}

static void run(const char *door, unsigned count,
                bool (*build)(const void *bytes, size_t size_bytes))
{
    static uint32_t words[WORDS_MAX];
    unsigned refused = 0;
    memset(&seen, 0, sizeof(seen));
    while (seen.built + seen.failed < count) {
        struct test_bytes file = test_env_read_spirv(names[test_random_below(NAMES)]);
        TEST_EXPECT(file.size_bytes <= sizeof(words), "the module is large");
        memcpy(words, file.data, file.size_bytes);
        damage(words, file.size_bytes / sizeof(words[0]));
        refused += !build(words, file.size_bytes);
        free(file.data);
    }
    printf("%s: %u refused by the walk; of the others %u built, %u failed, of these %u crashes of "
           "the compiler, %u stopped\n",
           door, refused, seen.built, seen.failed, seen.died, seen.stopped);
    fflush(stdout);
    TEST_EXPECT(seen.built > 0 && seen.failed > seen.died && refused > 0,
                "the damage is too little or too much");
}

// How many modules go through each front end: 150, or the argument.
int main(int argument_count, char **arguments)
{
    const unsigned count = argument_count > 1 ? (unsigned)atoi(arguments[1]) : 150;
    setenv("ZEPI_UR_LAYOUT", TEST_UR_RELEASE, 1);
    setenv("ZEPI_COMPILER", "process", 1);
    setenv("ZEPI_CACHE_DISK", "off", 1);
    setenv("ZEPI_COMPILER_SECONDS", "10", 1);
    test_env_use_ze_cpu();
    test_plugin_load();
    table_gear = test_gear_create(0);
    ur_load_device();
    UR_OK(urContextCreate(1, &gear.device, NULL, &gear.context));
    // Files that the first build opens stay open.
    TEST_OK(zepi.release(test_executable(table_gear.context, "vector_add")));
    const int descriptors = test_env_count_descriptors();
    run("zepi.h", count, build_through_table);
    run("Unified Runtime", count, build_through_ur);
    printf("%d descriptors before, %d behind\n", descriptors, test_env_count_descriptors());
    TEST_EXPECT(test_env_count_descriptors() == descriptors, "descriptors are left");
    UR_OK(urContextRelease(gear.context));
    UR_OK(urAdapterRelease(gear.adapter));
    ur_unload();
    test_gear_destroy(&table_gear);
    test_plugin_unload();
    TEST_EXPECT(waitpid(-1, NULL, WNOHANG) == -1, "a process is left");
    return 0;
}
