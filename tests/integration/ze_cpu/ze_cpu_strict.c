// SPDX-License-Identifier: MIT
//
// What Intel's driver takes though it is wrong, and ZE_CPU_STRICT refuses.
#include "fixture.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static ze_result_t reset_event_of_destroyed_list(const char *is_strict)
{
    setenv("ZE_CPU_STRICT", is_strict, 1);
    struct fixture fixture;
    fixture_init(&fixture);
    struct fixture_event event = fixture_event(&fixture, ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
    ze_command_list_handle_t list = fixture_immediate(&fixture, FIXTURE_IN_ORDER);
    MUST(zeCommandListAppendSignalEvent(list, event.event));
    fixture_synchronize(&fixture, list);
    MUST(zeCommandListDestroy(list));
    const ze_result_t result = zeEventHostReset(event.event);
    fixture_event_finish(&event);
    fixture_finish(&fixture);
    return result;
}

Test(ze_cpu_strict, refuses_an_event_whose_list_was_destroyed)
{
    cr_assert_eq(reset_event_of_destroyed_list("1"), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

Test(ze_cpu_strict, is_needed_to_refuse_an_event_whose_list_was_destroyed)
{
    MUST(reset_event_of_destroyed_list("0"));
}
