// SPDX-License-Identifier: MIT
//
// The parameter layer of the loader judges calls as this tier needs it: a plain Level Zero program,
// without zepi.
#include "test_env.h"

#include <criterion/criterion.h>
#include <level_zero/ze_api.h>

static ze_driver_handle_t driver;
static ze_device_handle_t device;
static ze_context_handle_t context;

static void bring_up(void)
{
    uint32_t count = 1;
    test_env_use_null_driver();
    cr_assert_eq(zeInit(0), ZE_RESULT_SUCCESS);
    cr_assert_eq(zeDriverGet(&count, &driver), ZE_RESULT_SUCCESS);
    cr_assert_eq(zeDeviceGet(driver, &count, &device), ZE_RESULT_SUCCESS);
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    cr_assert_eq(zeContextCreate(driver, &desc, &context), ZE_RESULT_SUCCESS);
}

static void tear_down(void)
{
    cr_expect_eq(zeContextDestroy(context), ZE_RESULT_SUCCESS);
}

TestSuite(null_driver, .init = bring_up, .fini = tear_down);

Test(null_driver, validation_layer_refuses_what_the_driver_would_take)
{
    ze_module_handle_t module;
    cr_expect_eq(zeModuleCreate(context, device, NULL, &module, NULL),
                 ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}
