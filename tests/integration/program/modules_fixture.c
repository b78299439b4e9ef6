// SPDX-License-Identifier: MIT
#include "modules_fixture.h"

const char unit_tokens[8];

zepi_module_t build_with(zepi_module_t input, int32_t value)
{
    zepi_module_t executable;
    TEST_OK(zepi.spec_constant_set(input, 7, sizeof(value), &value));
    TEST_OK(zepi.module_build(input, NULL, &executable));
    return executable;
}

zepi_module_t scaled_copy_with(int32_t value)
{
    zepi_module_t input = test_input(gear.context, "scaled_copy");
    zepi_module_t executable = build_with(input, value);
    TEST_OK(zepi.release(input));
    return executable;
}

zepi_device_image_desc_t native_image(zepi_module_t module, zepi_module_state_t state,
                                      const zepi_spec_value_t *baked)
{
    zepi_device_image_desc_t image = test_native_image(module, gear.device, state);
    image.baked_values = baked;
    image.baked_value_count = baked != NULL;
    return image;
}

uint32_t image_count(zepi_module_t module)
{
    zepi_module_info_t info = {.size = sizeof(info)};
    TEST_OK(zepi.module_get_info(module, &info));
    return info.image_count;
}

void launch_init(struct launch *launch)
{
    memset(launch, 0, sizeof(*launch));
    TEST_OK(
        zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 16, 0, (void **)&launch->in));
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 16, 0,
                              (void **)&launch->out));
    memcpy(launch->in, (int32_t[]){1, 2, 3, 4}, 16);
    launch->arguments[0] = TEST_POINTER(launch->in);
    launch->arguments[1] = TEST_POINTER(launch->out);
    launch->value = (zepi_spec_value_t){7, 4, &launch->number};
    launch->desc = test_launch(NULL, 2, launch->arguments, 4);
    launch->desc.kernel_name = "scaled_copy_int";
    launch->desc.unit = UNIT;
}

void launch_finish(struct launch *launch)
{
    TEST_OK(zepi.usm_free(gear.context, launch->in));
    TEST_OK(zepi.usm_free(gear.context, launch->out));
}

static void set_value(struct launch *launch, int32_t value)
{
    launch->number = value;
    launch->desc.spec_values = value ? &launch->value : NULL;
    launch->desc.spec_value_count = value != 0;
}

void expect(struct launch *launch, int32_t value, int32_t factor)
{
    set_value(launch, value);
    memset(launch->out, 0, 16);
    TEST_OK(zepi.queue_launch(gear.queue, &launch->desc, TEST_NO_WAIT, NULL));
    TEST_OK(zepi.queue_finish(gear.queue));
    for (int i = 0; i < 4; i++)
        cr_assert_eq(launch->out[i], launch->in[i] * factor, "value %d, factor %d: got %d", value,
                     factor, launch->out[i]);
}

void expect_failure(struct launch *launch, int32_t value, zepi_result_t result, const char *words)
{
    set_value(launch, value);
    TEST_FAILS_SAYING(zepi.queue_launch(gear.queue, &launch->desc, TEST_NO_WAIT, NULL), result,
                      words);
}
