// SPDX-License-Identifier: MIT
#include "control.h"
#include "faults.h"

#include <criterion/criterion.h>
#include <errno.h>

Test(faults, meet_the_call_that_is_named)
{
    cr_assert(drm_shim_set_faults("gem_create:2:ENOSPC,kernel:3+:hang,reset:1:EIO"));
    cr_assert_eq(shim_fault_take(SHIM_FAULT_BUFFER_CREATE), 0);
    cr_assert_eq(shim_fault_take(SHIM_FAULT_BUFFER_CREATE), ENOSPC);
    cr_assert_eq(shim_fault_take(SHIM_FAULT_BUFFER_CREATE), 0);
    cr_assert_eq(shim_fault_take(SHIM_FAULT_KERNEL), 0);
    cr_assert_eq(shim_fault_take(SHIM_FAULT_KERNEL), 0);
    cr_assert_neq(shim_fault_take(SHIM_FAULT_KERNEL), 0);
    cr_assert_neq(shim_fault_take(SHIM_FAULT_KERNEL), 0);
    cr_assert_eq(shim_fault_take(SHIM_FAULT_BIND), 0);
    cr_assert_neq(shim_fault_take(SHIM_FAULT_RESET), 0);
    cr_assert(drm_shim_set_faults(NULL));
    cr_assert_eq(shim_fault_take(SHIM_FAULT_KERNEL), 0);
}

Test(faults, that_are_not_understood_are_refused)
{
    static const char *const wrong[] = {
        "gem",          "gem:1:EIO",        "gem_create:0:EIO",  "gem_create:1:EWHAT",
        "gem_create:1", "gem_create:x:EIO", "vm_bind:1:EIO,what"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        cr_assert_not(drm_shim_set_faults(wrong[i]), "%s", wrong[i]);
        cr_assert_eq(shim_fault_take(SHIM_FAULT_BIND), 0);
    }
}
