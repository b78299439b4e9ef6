// SPDX-License-Identifier: MIT
//
// The null driver, the loader's tracing layer and its parameter validation work as this tier needs
// them: a plain Level Zero program, without zepi.
#include "test_env.h"

#include <criterion/criterion.h>
#include <level_zero/layers/zel_tracing_api.h>
#include <level_zero/layers/zel_tracing_register_cb.h>
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

Test(null_driver, is_the_only_driver_and_has_one_device)
{
    uint32_t count = 0;
    cr_expect_eq(zeDriverGet(&count, NULL), ZE_RESULT_SUCCESS);
    cr_expect_eq(count, 1);
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    cr_expect_eq(zeDeviceGetProperties(device, &properties), ZE_RESULT_SUCCESS);
    cr_expect_str_eq(properties.name, "Null Device");
}

struct recorded_build {
    unsigned calls;
    uint32_t constant_count;
    uint32_t first_id;
    int32_t first_value;
};

static void record_build(ze_module_create_params_t *params, ze_result_t result, void *user_data,
                         void **instance_data)
{
    struct recorded_build *record = user_data;
    const ze_module_constants_t *constants = (*params->pdesc)->pConstants;
    (void)result;
    (void)instance_data;
    record->calls++;
    record->constant_count = constants->numConstants;
    record->first_id = constants->pConstantIds[0];
    record->first_value = *(const int32_t *)constants->pConstantValues[0];
}

Test(null_driver, tracing_layer_shows_the_constants_of_a_module)
{
    struct recorded_build record = {0};
    const zel_tracer_desc_t desc = {.stype = ZEL_STRUCTURE_TYPE_TRACER_DESC, .pUserData = &record};
    zel_tracer_handle_t tracer;
    cr_assert_eq(zelTracerCreate(&desc, &tracer), ZE_RESULT_SUCCESS);
    cr_assert_eq(zelTracerModuleCreateRegisterCallback(tracer, ZEL_REGISTER_PROLOGUE, record_build),
                 ZE_RESULT_SUCCESS);
    cr_assert_eq(zelTracerSetEnabled(tracer, true), ZE_RESULT_SUCCESS);

    struct test_bytes spirv = test_env_read_spirv("scaled_copy");
    const int32_t value = -5;
    const uint32_t id = 7;
    const void *values[] = {&value};
    const ze_module_constants_t constants = {1, &id, values};
    const ze_module_desc_t module_desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
                                          .format = ZE_MODULE_FORMAT_IL_SPIRV,
                                          .inputSize = spirv.size_bytes,
                                          .pInputModule = spirv.data,
                                          .pConstants = &constants};
    ze_module_handle_t module;
    cr_expect_eq(zeModuleCreate(context, device, &module_desc, &module, NULL), ZE_RESULT_SUCCESS);
    cr_expect_eq(zeModuleDestroy(module), ZE_RESULT_SUCCESS);

    cr_expect_eq(record.calls, 1);
    cr_expect_eq(record.constant_count, 1);
    cr_expect_eq(record.first_id, 7);
    cr_expect_eq(record.first_value, -5);
    cr_expect_eq(zelTracerSetEnabled(tracer, false), ZE_RESULT_SUCCESS);
    cr_expect_eq(zelTracerDestroy(tracer), ZE_RESULT_SUCCESS);
    free(spirv.data);
}

Test(null_driver, validation_layer_refuses_what_the_driver_would_take)
{
    ze_module_handle_t module;
    cr_expect_eq(zeModuleCreate(context, device, NULL, &module, NULL),
                 ZE_RESULT_ERROR_INVALID_NULL_POINTER);
}
