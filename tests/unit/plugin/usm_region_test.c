// SPDX-License-Identifier: MIT
#include "memory/usm_driver.h"

#include <criterion/criterion.h>
#include <sys/mman.h>

// A thread may ask about an address while another one destroys the pool that it is from: the region
// stays, the pool's shards do not.
Test(usm_region, is_described_without_its_share)
{
    static struct zepi_context context;
    static struct zepi_usm_pool pool = {.context = &context};
    static struct zepi_usm_heap heap = {.pool = &pool, .kind = ZEPI_USM_SHARED};
    static struct zepi_usm_shard shard = {.heap = &heap};
    char memory[256];
    void *gone = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(gone, MAP_FAILED);
    struct zepi_usm_region *region = zepi_usm_region_get(1);
    const uintptr_t base = (uintptr_t)memory & ~(uintptr_t)63;
    const struct zepi_usm_region_desc desc = {.size_bytes = 128, .shift = 7};
    zepi_usm_info_t info = {.size = sizeof(info)};
    zepi_usm_region_fill(region, &desc, &shard, base);
    region->shard = gone;
    region->blocks[0].end = base + 100;
    cr_assert(zepi_usm_region_describe(region, (void *)(base + 99), &info));
    cr_assert_eq(info.base, (void *)base);
    cr_assert_eq(info.size_bytes, 100);
    cr_assert_eq(info.kind, ZEPI_USM_SHARED);
    cr_assert_neq(info.id, 0);
    zepi_usm_region_put(region);
}
