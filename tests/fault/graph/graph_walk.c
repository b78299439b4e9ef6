// SPDX-License-Identifier: MIT
#include "graph_walk.h"

#include "ze/ze.h"

#include <string.h>

struct test_gear gear;
ur_program_handle_t program;
float *data;

static size_t data_bytes;

void graph_walk_begin(size_t vectors)
{
    const zepi_device_image_desc_t image = test_spirv_image("vector_add");
    walk_begin();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    data_bytes = vectors * ITEMS * sizeof(float);
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, data_bytes, 0,
                              (void **)&data));
    const ur_context_handle_t context = (ur_context_handle_t)gear.context;
    WALK_EXPECT(zepi_urProgramCreateWithIL(context, image.bytes, image.size_bytes, NULL,
                                           &program) == UR_RESULT_SUCCESS);
    WALK_EXPECT(zepi_urProgramBuild(context, program, NULL) == UR_RESULT_SUCCESS);
}

void graph_walk_end(void)
{
    walk_release(program);
    TEST_OK(zepi.usm_free(gear.context, data));
    test_gear_destroy(&gear);
}

zepi_result_t graph_walk_start(ur_kernel_handle_t *out_kernel)
{
    memset(data, 0, data_bytes);
    return told(zepi_urKernelCreate(program, "vector_add", out_kernel));
}

ur_exp_kernel_arg_properties_t pointer(uint32_t index, void *memory)
{
    return (ur_exp_kernel_arg_properties_t){.stype = UR_STRUCTURE_TYPE_EXP_KERNEL_ARG_PROPERTIES,
                                            .type = UR_EXP_KERNEL_ARG_TYPE_POINTER,
                                            .index = index,
                                            .value.pointer = memory};
}

// The failure may hit either call: the host notices, and records nothing.
zepi_result_t record_natively(ur_result_t found, ur_native_handle_t list)
{
    const zepi_result_t result = told(found);
    return result == ZEPI_SUCCESS
               ? ZEPI_ZE(zeCommandListAppendMemoryCopy, (ze_command_list_handle_t)list,
                         data + 2 * ITEMS, data + ITEMS, ITEMS * sizeof(float), NULL, 0, NULL)
               : result;
}
