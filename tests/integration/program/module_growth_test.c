// SPDX-License-Identifier: MIT
// Many modules and translation units at once: an operation costs about what it costs beside few.
#include "gear_fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Of this thread, so that other processes do not count.
static uint64_t thread_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static zepi_device_image_desc_t image;
static uint8_t *bytes; // of the image, which stories change

static void set_up(void)
{
    gear_set_up();
    image = test_spirv_image("negate");
    bytes = malloc(image.size_bytes);
    cr_assert_not_null(bytes);
    image.bytes = memcpy(bytes, image.bytes, image.size_bytes);
}

static void tear_down(void)
{
    free(bytes);
    gear_tear_down();
}

TestSuite(many, .init = set_up, .fini = tear_down, .timeout = 120);

#define MODULES 6000
#define SOME 300

// Of one size, with the same bytes at their beginning and end. Returns the time of `count`.
static uint64_t create_different(zepi_module_t *modules, uint32_t first, uint32_t count)
{
    uint64_t passed_ns = 0;
    for (uint32_t i = first; i < first + count; i++) {
        const uint32_t generator = i;
        memcpy(bytes + 8, &generator, sizeof(generator));
        const uint64_t begin_ns = thread_ns();
        TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 1, &image, &modules[i]));
        passed_ns += thread_ns() - begin_ns;
    }
    return passed_ns;
}

Test(many, modules_of_one_size_are_told_apart_at_once)
{
    static zepi_module_t modules[MODULES];
    const uint64_t few_ns = create_different(modules, 0, SOME);
    create_different(modules, SOME, MODULES - 2 * SOME);
    const uint64_t many_ns = create_different(modules, MODULES - SOME, SOME);
    printf("a module beside few: %llu ns, beside many: %llu ns\n",
           (unsigned long long)few_ns / SOME, (unsigned long long)many_ns / SOME);
    for (uint32_t i = 0; i < MODULES; i++)
        TEST_OK(zepi.release(modules[i]));
    cr_assert_lt(many_ns, 3 * few_ns);
}

Test(many, modules_are_joined_without_a_comparison_of_each_with_each)
{
    enum { JOINED = 2000 };
    static zepi_module_t modules[JOINED];
    zepi_module_t input, joined;
    TEST_OK(zepi.module_create(gear.context, ZEPI_MODULE_INPUT, 1, &image, &input));
    for (uint32_t i = 0; i < JOINED; i++)
        TEST_OK(zepi.module_build(input, NULL, &modules[i]));
    const uint64_t begin_ns = thread_ns();
    TEST_OK(zepi.module_join(JOINED, modules, &joined));
    const uint64_t passed_ns = thread_ns() - begin_ns;
    printf("a join: %llu ns\n", (unsigned long long)passed_ns);
    TEST_OK(zepi.release(joined));
    TEST_OK(zepi.release(input));
    for (uint32_t i = 0; i < JOINED; i++)
        TEST_OK(zepi.release(modules[i]));
    cr_assert_lt(passed_ns, 20000000);
}

Test(many, translation_units_are_found_without_a_search)
{
    enum { UNITS = 20000 };
    static char tokens[UNITS];
    bool has_any;
    for (uint32_t i = 0; i < UNITS; i++)
        TEST_OK(zepi.unit_register(&tokens[i], 1, &image));
    const uint64_t begin_ns = thread_ns();
    for (uint32_t i = 0; i < UNITS; i++)
        TEST_OK(zepi.unit_has_any_module(&tokens[i], gear.context, &has_any));
    const uint64_t passed_ns = thread_ns() - begin_ns;
    printf("a lookup: %llu ns\n", (unsigned long long)passed_ns / UNITS);
    for (uint32_t i = 0; i < UNITS; i++)
        TEST_OK(zepi.unit_unregister(&tokens[i]));
    cr_assert_lt(passed_ns / UNITS, 3000);
}
