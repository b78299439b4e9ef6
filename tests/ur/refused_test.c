// SPDX-License-Identifier: MIT
// Every function of the header's own list is in a table; those that are refused say so and why, and
// plugin/ur/FUNCTIONS.md tells the same.
#include "test_env.h"
#include "ur_fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Any function with nothing in any argument. Words beyond those that it takes are of no concern to
// the calling conventions that this runs on; structures by value are words on the stack.
typedef ur_result_t(UR_APICALL any_fn)(size_t, size_t, size_t, size_t, size_t, size_t, size_t,
                                       size_t, size_t, size_t, size_t, size_t, size_t, size_t,
                                       size_t, size_t, size_t, size_t, size_t, size_t, size_t,
                                       size_t, size_t, size_t);

struct slot {
    const char *name;
    any_fn *function;
};

static struct slot slots[512];
static size_t slot_count;
static char *readme;

static void add_slot(const char *name, const void *function)
{
    struct slot *slot = &slots[slot_count++];
    slot->name = name;
    memcpy(&slot->function, function, sizeof(slot->function));
}

static void set_up(void)
{
    ur_set_up();
#define ADD_SLOT(name, table, member) add_slot(name, &ur.table.member);
    UR_SLOTS(ADD_SLOT)
#undef ADD_SLOT
    struct test_bytes bytes = test_env_read_file(TEST_UR_FUNCTIONS);
    readme = realloc(bytes.data, bytes.size_bytes + 1);
    cr_assert_not_null(readme);
    readme[bytes.size_bytes] = '\0';
}

static void tear_down(void)
{
    free(readme);
    ur_tear_down();
}

TestSuite(refused, .init = set_up, .fini = tear_down);

static const struct slot *find_slot(const char *name)
{
    for (size_t i = 0; i < slot_count; i++) {
        if (strcmp(slots[i].name, name) == 0)
            return &slots[i];
    }
    return NULL;
}

static ur_result_t call_with_nothing(const struct slot *slot)
{
    return slot->function(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

// The README's row of a function: the cells after its name. False: it is in no row, or in two.
static bool find_row(const char *function, char *state, char *why, size_t size)
{
    char quoted[128];
    size_t rows = 0;
    snprintf(quoted, sizeof(quoted), "`%s`", function);
    for (const char *line = strstr(readme, "\n## Functions\n"); line; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *first = strncmp(line, "| `ur", 5) == 0 ? strstr(line, " | ") : NULL;
        const char *found = first ? strstr(line, quoted) : NULL;
        if (!found || found > first)
            continue;
        const char *second = strstr(first + 3, " | ");
        const char *end = strchr(line, '\n');
        cr_assert(second && end && second < end);
        snprintf(state, size, "%.*s", (int)(second - first - 3), first + 3);
        snprintf(why, size, "%.*s", (int)(end - second > 5 ? end - second - 5 : 0), second + 3);
        rows++;
    }
    return rows == 1;
}

Test(refused, every_function_of_the_header_is_in_a_table_or_the_loaders_own)
{
    static const char *const functions[] = {
#define _UR_API(function) #function,
#include <unified-runtime/ur_api_funcs.def>
#undef _UR_API
    };
    const size_t count = sizeof(functions) / sizeof(functions[0]);
    size_t loader_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (strncmp(functions[i], "urLoader", strlen("urLoader")) == 0)
            loader_count++;
        else
            cr_expect(find_slot(functions[i]), "%s has no slot", functions[i]);
    }
    cr_assert_eq(slot_count + loader_count, count);
    for (size_t i = 0; i < slot_count; i++)
        cr_expect(slots[i].function, "the slot of %s is empty", slots[i].name);
}

Test(refused, what_is_refused_says_so_with_the_reason_that_the_readme_has)
{
    size_t refused = 0;
    for (size_t i = 0; i < slot_count; i++) {
        char state[512] = "";
        char why[512] = "";
        char expected[1024];
        const char *name = slots[i].name;
        cr_assert(find_row(name, state, why, sizeof(state)), "%s is not in one row of %s", name,
                  TEST_UR_FUNCTIONS);
        const ur_result_t result = call_with_nothing(&slots[i]);
        if (result != UR_RESULT_ERROR_UNSUPPORTED_FEATURE) {
            cr_expect_str_eq(state, "done", "%s answers %d, and is '%s' in the README", name,
                             (int)result, state);
            continue;
        }
        snprintf(expected, sizeof(expected), "%s: %s", name, why);
        cr_expect_str_eq(state, "refused", "%s is '%s' in the README", name, state);
        cr_expect(why[0] != '\0', "%s is refused without a reason", name);
        cr_expect_str_eq(ur_last_error(), expected);
        printf("%s\n", expected);
        refused++;
    }
    printf("%zu functions are done, %zu are refused\n", slot_count - refused, refused);
}

// A function that went away, or a name that was mistyped.
Test(refused, the_readme_names_no_function_that_is_in_no_table)
{
    size_t names = 0;
    for (char *name = strstr(readme, "\n| `ur"); name; name = strstr(name + 1, "\n| `ur")) {
        const char *end = strstr(name, " | ");
        char *next = strchr(name, '`');
        while (next && next < end) {
            char function[128];
            const size_t length = strcspn(next + 1, "`");
            snprintf(function, sizeof(function), "%.*s", (int)length, next + 1);
            cr_expect(find_slot(function), "'%s' is in no table", function);
            names++;
            next = strchr(next + length + 2, '`');
        }
    }
    cr_assert_geq(names, slot_count, "%zu names", names);
}

Test(refused, functions_that_are_done_find_what_is_missing_first)
{
    for (size_t i = 0; i < slot_count; i++) {
        const ur_result_t result = call_with_nothing(&slots[i]);
        // The one function whose arguments may all be left out.
        const bool may_succeed = strcmp(slots[i].name, "urAdapterGet") == 0;
        cr_expect(result == UR_RESULT_ERROR_UNSUPPORTED_FEATURE ||
                      result == UR_RESULT_ERROR_INVALID_NULL_HANDLE ||
                      result == UR_RESULT_ERROR_INVALID_NULL_POINTER ||
                      (may_succeed && result == UR_RESULT_SUCCESS),
                  "%s answers %d to nothing", slots[i].name, (int)result);
    }
}
