// SPDX-License-Identifier: MIT
// Messages go to the host's logger, at the level that it asked for.
#include "ur_fixture.h"

#include <criterion/criterion.h>
#include <string.h>

static struct seen {
    unsigned count;
    ur_logger_level_t level;
    char line[256];
} seen;

static void note(ur_logger_level_t level, const char *line, void *data)
{
    struct seen *to = data;
    to->count++;
    to->level = level;
    strncpy(to->line, line, sizeof(to->line) - 1);
}

static void set_up(void)
{
    ur_set_up();
    seen = (struct seen){0};
}

static void tear_down(void)
{
    UR_OK(urAdapterSetLoggerCallbackLevel(gear.adapter, UR_LOGGER_LEVEL_QUIET));
    ur_tear_down();
}

TestSuite(logger, .init = set_up, .fini = tear_down);

// A failure of the core: there is no such amount of memory.
static void fail(void)
{
    void *memory;
    cr_assert_neq(urUSMDeviceAlloc(gear.context, gear.device, NULL, NULL, (size_t)1 << 60, &memory),
                  UR_RESULT_SUCCESS);
}

// A query without an answer, which hosts ask as a matter of course.
static void ask_in_vain(void)
{
    uint32_t answer;
    cr_assert_eq(
        urDeviceGetInfo(gear.device, UR_DEVICE_INFO_NODE_MASK, sizeof(answer), &answer, NULL),
        UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION);
}

Test(logger, gets_errors_as_errors)
{
    UR_OK(urAdapterSetLoggerCallback(gear.adapter, note, &seen, UR_LOGGER_LEVEL_WARN));
    ask_in_vain();
    cr_assert_eq(seen.count, 0);
    fail();
    cr_assert_eq(seen.count, 1);
    cr_assert_eq(seen.level, UR_LOGGER_LEVEL_ERROR);
    cr_assert(strstr(seen.line, "1152921504606846976 bytes"), "%s", seen.line);
}

Test(logger, gets_everything_for_debugging)
{
    UR_OK(urAdapterSetLoggerCallback(gear.adapter, note, &seen, UR_LOGGER_LEVEL_DEBUG));
    ask_in_vain();
    cr_assert_eq(seen.count, 1);
    cr_assert_eq(seen.level, UR_LOGGER_LEVEL_DEBUG);
}

Test(logger, is_quiet_when_told_so)
{
    UR_OK(urAdapterSetLoggerCallback(gear.adapter, note, &seen, UR_LOGGER_LEVEL_DEBUG));
    UR_OK(urAdapterSetLoggerCallbackLevel(gear.adapter, UR_LOGGER_LEVEL_QUIET));
    fail();
    cr_assert_eq(seen.count, 0);
}

// Fails by itself, in another way.
static void note_and_fail(ur_logger_level_t level, const char *line, void *data)
{
    note(level, line, data);
    UR_FAILS(urContextRetain(NULL), UR_RESULT_ERROR_INVALID_NULL_HANDLE);
    ask_in_vain();
}

Test(logger, may_call_functions_that_fail)
{
    UR_OK(urAdapterSetLoggerCallback(gear.adapter, note_and_fail, &seen, UR_LOGGER_LEVEL_DEBUG));
    fail();
    cr_assert(strstr(ur_last_error(), "1152921504606846976 bytes"), "%s", ur_last_error());
    cr_assert(strstr(seen.line, "1152921504606846976 bytes"), "%s", seen.line);
    cr_assert_eq(seen.count, 1);
}
