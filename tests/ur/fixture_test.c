// SPDX-License-Identifier: MIT
// One walk through the adapter. All other tests here depend on it.
#include "ur_fixture.h"

#include <criterion/criterion.h>

TestSuite(fixture, .init = ur_set_up, .fini = ur_tear_down);

Test(fixture, a_kernel_adds_through_the_tables)
{
    enum { ITEMS = 256 };
    ur_kernel_handle_t add = ur_kernel("vector_add", "vector_add");
    float *a = ur_shared(ITEMS * sizeof(float));
    float *b = ur_shared(ITEMS * sizeof(float));
    float *sum = ur_shared(ITEMS * sizeof(float));
    for (int i = 0; i < ITEMS; i++) {
        a[i] = (float)i;
        b[i] = 0.5f;
    }
    const ur_exp_kernel_arg_properties_t arguments[] = {UR_POINTER(0, a), UR_POINTER(1, b),
                                                        UR_POINTER(2, sum)};
    UR_OK(ur_launch(gear.queue, add, ITEMS, 3, arguments, 0, NULL, NULL));
    UR_OK(urQueueFinish(gear.queue));
    for (int i = 0; i < ITEMS; i++)
        cr_assert_eq(sum[i], (float)i + 0.5f);
    ur_free(a);
    ur_free(b);
    ur_free(sum);
    UR_OK(urKernelRelease(add));
}

Test(fixture_devices, a_context_has_as_many_devices_as_asked_for, .fini = ur_tear_down)
{
    ur_set_up_devices(3);
    uint32_t count;
    UR_OK(urContextGetInfo(gear.context, UR_CONTEXT_INFO_NUM_DEVICES, sizeof(count), &count, NULL));
    cr_assert_eq(count, 3);
}
