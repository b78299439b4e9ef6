// SPDX-License-Identifier: MIT
//
// Builds to the disk and from it, while each file operation, each Level Zero call and each
// allocation fails in turn. No file operation that fails makes a build fail.
#include "build_and_run.h"
#include "test_env.h"

#include <errno.h>
#include <stdlib.h>

#define STORED 3 // none of walk_build_anew

// The native code comes from the disk: the caches in memory are cleared.
static zepi_result_t load_and_run(void)
{
    zepi_result_t result;
    build_and_run_with.constant = STORED;
    build_and_run_with.is_constant_kept = true;
    STEP(zepi.cache_clear(NULL));
    STEP(build_and_run());
out:
    return result;
}

static zepi_result_t store_and_run(void)
{
    build_and_run_with.is_constant_kept = false;
    return build_and_run();
}

static uint64_t count_store_hits(void)
{
    zepi_cache_counters_t counters = {.size = sizeof(counters)};
    TEST_OK(zepi.cache_get_counters(NULL, ZEPI_CACHE_BINARIES, &counters));
    return counters.store_hits;
}

int main(void)
{
    walk_begin();
    build_and_run_with.image = test_spirv_image("scaled_copy");
    build_and_run_with.queue_flags = ZEPI_QUEUE_IN_ORDER;
    // The first build of a process: opens the folder, and identifies the compiler.
    walk_in_children(true);
    walk_files("first build, files", store_and_run, EACCES);
    walk_allocations("first build, allocations", load_and_run);
    walk_in_children(false);

    build_and_run_with.constant = STORED;
    walk_files("to the disk, files", store_and_run, ENOSPC);
    TEST_OK(load_and_run());
    const uint64_t before = count_store_hits();
    TEST_OK(load_and_run());
    WALK_EXPECT(count_store_hits() == before + 1);
    walk_files("from the disk, files", load_and_run, EIO);
    walk_calls("from the disk, calls", load_and_run, "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
    // A file that could not be loaded for want of memory stays on the disk.
    const unsigned unlinked = walk_unlinks();
    walk_allocations("from the disk, allocations", load_and_run);
    WALK_EXPECT(walk_unlinks() == unlinked);
    return 0;
}
