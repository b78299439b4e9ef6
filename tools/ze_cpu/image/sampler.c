// SPDX-License-Identifier: MIT
#include "entry.h"
#include "image.h"

ze_result_t ZE_APICALL cpu_zeSamplerCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                           const ze_sampler_desc_t *desc,
                                           ze_sampler_handle_t *phSampler)
{
    static const cl_addressing_mode modes[] = {
        [ZE_SAMPLER_ADDRESS_MODE_NONE] = CL_ADDRESS_NONE,
        [ZE_SAMPLER_ADDRESS_MODE_REPEAT] = CL_ADDRESS_REPEAT,
        [ZE_SAMPLER_ADDRESS_MODE_CLAMP] = CL_ADDRESS_CLAMP_TO_EDGE,
        [ZE_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER] = CL_ADDRESS_CLAMP,
        [ZE_SAMPLER_ADDRESS_MODE_MIRROR] = CL_ADDRESS_MIRRORED_REPEAT,
    };
    if ((uint32_t)desc->addressMode > ZE_SAMPLER_ADDRESS_MODE_MIRROR ||
        (uint32_t)desc->filterMode > ZE_SAMPLER_FILTER_MODE_LINEAR)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    const cl_sampler_properties properties[] = {
        CL_SAMPLER_NORMALIZED_COORDS,
        desc->isNormalized != 0,
        CL_SAMPLER_ADDRESSING_MODE,
        modes[desc->addressMode],
        CL_SAMPLER_FILTER_MODE,
        desc->filterMode == ZE_SAMPLER_FILTER_MODE_LINEAR ? CL_FILTER_LINEAR : CL_FILTER_NEAREST,
        0,
    };
    cl_int code;
    cl_sampler made =
        cpu_opencl()->api->clCreateSamplerWithProperties(cpu_opencl_context(), properties, &code);
    if (made == NULL)
        return cpu_opencl_result(code);
    struct cpu_sampler *sampler = cpu_object_create(CPU_SAMPLER, sizeof(*sampler));
    if (sampler == NULL) {
        cpu_opencl()->api->clReleaseSampler(made);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    sampler->sampler = made;
    *phSampler = (ze_sampler_handle_t)sampler;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeSamplerDestroy(ze_sampler_handle_t hSampler)
{
    struct cpu_sampler *sampler = (struct cpu_sampler *)hSampler;
    cpu_opencl()->api->clReleaseSampler(sampler->sampler);
    cpu_object_destroy(sampler);
    return ZE_RESULT_SUCCESS;
}
