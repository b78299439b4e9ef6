// SPDX-License-Identifier: MIT
//
// Builds one module and runs one kernel, while each Level Zero call and each allocation fails in
// turn.
#include "build_and_run.h"

int main(void)
{
    walk_begin();
    build_and_run_with.image = test_spirv_image("scaled_copy");
    build_and_run_with.queue_flags = ZEPI_QUEUE_IN_ORDER | ZEPI_QUEUE_PROFILING;
    TEST_OK(build_and_run());
    walk_calls("in order, calls", build_and_run, "ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY");
    walk_allocations("in order, allocations", build_and_run);
    build_and_run_with.queue_flags = ZEPI_QUEUE_PROFILING;
    walk_calls("out of order, calls", build_and_run, "ZE_RESULT_ERROR_UNKNOWN");
    walk_allocations("out of order, allocations", build_and_run);
    return 0;
}
