// SPDX-License-Identifier: MIT
#include "core/options.h"
#include "device/adapter.h"
#include "ur/handles.h"
#include "ur/info.h"

#include <stdio.h>
#include <string.h>

ur_result_t zepi_urPlatformGet(ur_adapter_handle_t hAdapter, uint32_t NumEntries,
                               ur_platform_handle_t *phPlatforms, uint32_t *pNumPlatforms)
{
    struct zepi_platform *const *platforms;
    uint32_t count;
    ur_result_t result;
    if ((result = zepi_ur_check_adapter(hAdapter)) ||
        (result = zepi_ur_check_list(NumEntries, phPlatforms)) ||
        (!phPlatforms && !pNumPlatforms &&
         (result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE, "no output for platforms"))) ||
        (result = zepi_ur_result(zepi_adapter_get(&platforms, &count))))
        return result;
    // Platforms have no references in Unified Runtime; they stay for as long as the adapter does.
    for (uint32_t i = 0; phPlatforms && i < count && i < NumEntries; i++)
        phPlatforms[i] = (ur_platform_handle_t)platforms[i];
    if (pNumPlatforms)
        *pNumPlatforms = count;
    return UR_RESULT_SUCCESS;
}

static ur_result_t get_version(void *object, const struct zepi_ur_info *info)
{
    const struct zepi_platform *platform = object;
    char version[32];
    snprintf(version, sizeof(version), "%u.%u", platform->api_version >> 16,
             platform->api_version & 0xffffu);
    return zepi_ur_info_return_string(info, version);
}

static ur_result_t get_vendor(void *object, const struct zepi_ur_info *info)
{
    const struct zepi_platform *platform = object;
    return zepi_ur_info_return_string(info,
                                      platform->quirks.is_on_cpu ? "zepi" : "Intel(R) Corporation");
}

static ur_result_t get_name(void *object, const struct zepi_ur_info *info)
{
    (void)object;
    return zepi_ur_info_return_string(info, zepi_options()->platform_name);
}

static ur_result_t get_adapter(void *object, const struct zepi_ur_info *info)
{
    const void *adapter = &zepi_ur_adapter;
    (void)object;
    return zepi_ur_info_return(info, &adapter, sizeof(adapter));
}

static const struct zepi_ur_query platform_queries[] = {
    {ZEPI_UR_VALUE(PLATFORM_INFO_NAME, get_name)},
    {ZEPI_UR_VALUE(PLATFORM_INFO_VENDOR_NAME, get_vendor)},
    {ZEPI_UR_VALUE(PLATFORM_INFO_VERSION, get_version)},
    {ZEPI_UR_STRING(PLATFORM_INFO_EXTENSIONS, "")},
    {ZEPI_UR_STRING(PLATFORM_INFO_PROFILE, "FULL_PROFILE")},
    {ZEPI_UR_IS(PLATFORM_INFO_BACKEND, U32, UR_BACKEND_LEVEL_ZERO)},
    {ZEPI_UR_VALUE(PLATFORM_INFO_ADAPTER, get_adapter)},
};

ZEPI_UR_DEFINE_GET_INFO(Platform, , platform, zepi_ur_check_platform, platform_queries,
                        PLATFORM_INFO_ADAPTER)

ur_result_t zepi_urPlatformGetApiVersion(ur_platform_handle_t hPlatform, ur_api_version_t *pVersion)
{
    ur_result_t result = zepi_ur_check_platform(hPlatform);
    result = result ? result : zepi_ur_check_pointer(pVersion, "pVersion");
    if (result == UR_RESULT_SUCCESS)
        *pVersion = UR_API_VERSION_CURRENT;
    return result;
}

ZEPI_UR_DEFINE_GET_NATIVE(Platform, platform)

ur_result_t zepi_urPlatformCreateWithNativeHandle(
    ur_native_handle_t hNativePlatform, ur_adapter_handle_t hAdapter,
    const ur_platform_native_properties_t *pProperties, ur_platform_handle_t *phPlatform)
{
    struct zepi_platform *const *platforms;
    uint32_t count;
    (void)pProperties; // drivers are never given away
    ur_result_t result;
    if ((result = zepi_ur_check_adapter(hAdapter)) ||
        (result = zepi_ur_check_pointer(phPlatform, "phPlatform")) ||
        (result = zepi_ur_result(zepi_adapter_get(&platforms, &count))))
        return result;
    for (uint32_t i = 0; i < count; i++) {
        if ((ur_native_handle_t)platforms[i]->ze == hNativePlatform) {
            *phPlatform = (ur_platform_handle_t)platforms[i];
            return UR_RESULT_SUCCESS;
        }
    }
    return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE, "0x%llx is none of the drivers",
                          (unsigned long long)hNativePlatform);
}

ur_result_t zepi_urPlatformGetBackendOption(ur_platform_handle_t hPlatform,
                                            const char *pFrontendOption,
                                            const char **ppPlatformOption)
{
    // Options of DPC++'s compiler driver in the spelling of a Level Zero driver's compiler.
    static const char *const table[][2] = {
        {"", ""},
        {"-O0", "-ze-opt-disable"},
        {"-O1", "-ze-opt-level=2"},
        {"-O2", "-ze-opt-level=2"},
        {"-O3", "-ze-opt-level=2"},
        {"-ftarget-compile-fast", "-igc_opts 'PartitionUnit=1,SubroutineThreshold=50000'"},
        {"-foffload-fp32-prec-div", "-ze-fp32-correctly-rounded-divide-sqrt"},
        {"-foffload-fp32-prec-sqrt", "-ze-fp32-correctly-rounded-divide-sqrt"},
    };
    ur_result_t result;
    if ((result = zepi_ur_check_platform(hPlatform)) ||
        (result = zepi_ur_check_pointer(pFrontendOption, "pFrontendOption")) ||
        (result = zepi_ur_check_pointer(ppPlatformOption, "ppPlatformOption")))
        return result;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (strcmp(table[i][0], pFrontendOption) == 0) {
            *ppPlatformOption = table[i][1];
            return UR_RESULT_SUCCESS;
        }
    }
    return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE, "option '%s' is not known",
                          pFrontendOption);
}
