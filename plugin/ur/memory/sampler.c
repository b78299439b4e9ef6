// SPDX-License-Identifier: MIT
#include "ur/info.h"
#include "ur/memory/mem.h"

// Both interfaces have the same modes, in another order.
static const ze_sampler_address_mode_t address_modes[] = {
    [UR_SAMPLER_ADDRESSING_MODE_NONE] = ZE_SAMPLER_ADDRESS_MODE_NONE,
    [UR_SAMPLER_ADDRESSING_MODE_CLAMP_TO_EDGE] = ZE_SAMPLER_ADDRESS_MODE_CLAMP,
    [UR_SAMPLER_ADDRESSING_MODE_CLAMP] = ZE_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER,
    [UR_SAMPLER_ADDRESSING_MODE_REPEAT] = ZE_SAMPLER_ADDRESS_MODE_REPEAT,
    [UR_SAMPLER_ADDRESSING_MODE_MIRRORED_REPEAT] = ZE_SAMPLER_ADDRESS_MODE_MIRROR,
};

ur_result_t zepi_urSamplerCreate(ur_context_handle_t hContext, const ur_sampler_desc_t *pDesc,
                                 ur_sampler_handle_t *phSampler)
{
    ur_result_t result;
    if ((result = zepi_ur_check_context_pointer(hContext, pDesc, "pDesc")) ||
        (result = zepi_ur_check_pointer(phSampler, "phSampler")) ||
        (((pDesc->addressingMode > UR_SAMPLER_ADDRESSING_MODE_MIRRORED_REPEAT ||
           pDesc->filterMode > UR_SAMPLER_FILTER_MODE_LINEAR)) &&
         (result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_ENUMERATION,
                                  "addressing mode %d or filter mode %d is not known",
                                  (int)pDesc->addressingMode, (int)pDesc->filterMode))))
        return result;
    const ze_sampler_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC,
                                    .addressMode = address_modes[pDesc->addressingMode],
                                    .filterMode = pDesc->filterMode == UR_SAMPLER_FILTER_MODE_LINEAR
                                                      ? ZE_SAMPLER_FILTER_MODE_LINEAR
                                                      : ZE_SAMPLER_FILTER_MODE_NEAREST,
                                    .isNormalized = pDesc->normalizedCoords};
    return zepi_ur_result(
        zepi_sampler_create(zepi_ur_context(hContext), zepi_ur_context(hContext)->devices[0], &desc,
                            NULL, ZEPI_OWNERSHIP_TRANSFER, (struct zepi_sampler **)phSampler));
}

ZEPI_UR_DEFINE_REFERENCES(Sampler, , ur_sampler_handle_t, zepi_ur_check_sampler)

// Whether the sampler's description is known.
static bool sampler_is_described(const struct zepi_sampler *sampler)
{
    return sampler->desc.stype == ZE_STRUCTURE_TYPE_SAMPLER_DESC;
}

static uint64_t get_addressing_mode(void *sampler)
{
    const ze_sampler_address_mode_t mode = ((struct zepi_sampler *)sampler)->desc.addressMode;
    uint32_t i = 0;
    while (i + 1 < sizeof(address_modes) / sizeof(address_modes[0]) && address_modes[i] != mode)
        i++;
    return i;
}

static uint64_t get_filter_mode(void *sampler)
{
    return ((struct zepi_sampler *)sampler)->desc.filterMode == ZE_SAMPLER_FILTER_MODE_LINEAR
               ? UR_SAMPLER_FILTER_MODE_LINEAR
               : UR_SAMPLER_FILTER_MODE_NEAREST;
}

static const struct zepi_ur_query sampler_queries[] = {
    {ZEPI_UR_REFERENCES(SAMPLER_INFO_REFERENCE_COUNT)},
    {ZEPI_UR_MEMBER(SAMPLER_INFO_CONTEXT, BYTES, zepi_sampler, context)},
    {ZEPI_UR_MEMBER(SAMPLER_INFO_NORMALIZED_COORDS, BOOL, zepi_sampler, desc.isNormalized)},
    {ZEPI_UR_NUMBER(SAMPLER_INFO_ADDRESSING_MODE, U32, get_addressing_mode)},
    {ZEPI_UR_NUMBER(SAMPLER_INFO_FILTER_MODE, U32, get_filter_mode)},
};

ur_result_t zepi_urSamplerGetInfo(ur_sampler_handle_t hSampler, ur_sampler_info_t query,
                                  size_t value_size, void *value, size_t *out_size)
{
    ur_result_t result = zepi_ur_check_sampler(hSampler);
    if (result == UR_RESULT_SUCCESS && query >= UR_SAMPLER_INFO_NORMALIZED_COORDS &&
        query <= UR_SAMPLER_INFO_FILTER_MODE && !sampler_is_described(zepi_ur_sampler(hSampler)))
        result = zepi_ur_refuse(UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION,
                                "the sampler was made of a native handle, whose description Level "
                                "Zero does not tell");
    return zepi_ur_get_info(result, hSampler, ZEPI_UR_ROWS(sampler_queries), query,
                            UR_SAMPLER_INFO_FILTER_MODE, value_size, value, out_size);
}

ZEPI_UR_DEFINE_GET_NATIVE(Sampler, sampler)

// The description of the sampler that has a native handle. Level Zero has no query for it.
struct description {
    ze_sampler_handle_t ze;
    ze_sampler_desc_t desc; // zeros: not found
};

static void find_sampler_description(void *user, void *object)
{
    struct description *description = user;
    const struct zepi_sampler *sampler = object;
    if (sampler->ze == description->ze && sampler_is_described(sampler))
        description->desc = sampler->desc;
    zepi_release(object);
}

ur_result_t zepi_urSamplerCreateWithNativeHandle(ur_native_handle_t hNativeSampler,
                                                 ur_context_handle_t hContext,
                                                 const ur_sampler_native_properties_t *pProperties,
                                                 ur_sampler_handle_t *phSampler)
{
    struct description description = {.ze = (ze_sampler_handle_t)hNativeSampler};
    ur_result_t result;
    if ((result =
             zepi_ur_check_context_pointer(hContext, (void *)hNativeSampler, "hNativeSampler")) ||
        (result = zepi_ur_check_pointer(phSampler, "phSampler")))
        return result;
    zepi_object_visit_all(&zepi_sampler_type, find_sampler_description, &description);
    return zepi_ur_result(
        zepi_sampler_create(zepi_ur_context(hContext), zepi_ur_context(hContext)->devices[0],
                            &description.desc, (ze_sampler_handle_t)hNativeSampler,
                            ZEPI_UR_OWNERSHIP(pProperties), (struct zepi_sampler **)phSampler));
}
