// SPDX-License-Identifier: MIT
// What system management knows: fans, limits of power, clocks.
#include "ur/device/device_info.h"

#include "device/sysman.h"
#include "ur/handles.h"

#include <level_zero/zes_api.h>

static uint32_t throttle_reasons_of(uint64_t zes)
{
    static const struct {
        zes_freq_throttle_reason_flag_t zes;
        ur_device_throttle_reasons_flag_t ur;
    } known[] = {
        {ZES_FREQ_THROTTLE_REASON_FLAG_AVE_PWR_CAP, UR_DEVICE_THROTTLE_REASONS_FLAG_POWER_CAP},
        {ZES_FREQ_THROTTLE_REASON_FLAG_BURST_PWR_CAP, UR_DEVICE_THROTTLE_REASONS_FLAG_POWER_CAP},
        {ZES_FREQ_THROTTLE_REASON_FLAG_CURRENT_LIMIT,
         UR_DEVICE_THROTTLE_REASONS_FLAG_CURRENT_LIMIT},
        {ZES_FREQ_THROTTLE_REASON_FLAG_THERMAL_LIMIT,
         UR_DEVICE_THROTTLE_REASONS_FLAG_THERMAL_LIMIT},
        {ZES_FREQ_THROTTLE_REASON_FLAG_PSU_ALERT, UR_DEVICE_THROTTLE_REASONS_FLAG_PSU_ALERT},
        {ZES_FREQ_THROTTLE_REASON_FLAG_SW_RANGE, UR_DEVICE_THROTTLE_REASONS_FLAG_SW_RANGE},
        {ZES_FREQ_THROTTLE_REASON_FLAG_HW_RANGE, UR_DEVICE_THROTTLE_REASONS_FLAG_HW_RANGE},
    };
    uint32_t reasons = 0;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (zes & known[i].zes)
            reasons |= known[i].ur;
        zes &= ~(uint64_t)known[i].zes;
    }
    return zes ? reasons | UR_DEVICE_THROTTLE_REASONS_FLAG_OTHER : reasons;
}

ur_result_t zepi_ur_device_sensor_info(const struct zepi_device *device, ur_device_info_t query,
                                       const struct zepi_ur_info *info)
{
    enum zepi_sysman_query sensor;
    uint64_t value = 0;
    bool is_known = false;
    switch ((int)query) {
    case UR_DEVICE_INFO_FAN_SPEED:
        sensor = ZEPI_SYSMAN_FAN_PERCENT;
        break;
    case UR_DEVICE_INFO_MIN_POWER_LIMIT:
        sensor = ZEPI_SYSMAN_MIN_POWER_MW;
        break;
    case UR_DEVICE_INFO_MAX_POWER_LIMIT:
        sensor = ZEPI_SYSMAN_MAX_POWER_MW;
        break;
    case UR_DEVICE_INFO_CURRENT_CLOCK_THROTTLE_REASONS:
        sensor = ZEPI_SYSMAN_THROTTLE_REASONS;
        break;
    default:
        return UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
    }
    const ur_result_t result = zepi_ur_result(zepi_sysman_get(device, sensor, &value, &is_known));
    if (result != UR_RESULT_SUCCESS)
        return result;
    if (!is_known)
        return UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
    return zepi_ur_info_return_u32(info, sensor == ZEPI_SYSMAN_THROTTLE_REASONS
                                             ? throttle_reasons_of(value)
                                             : (uint32_t)value);
}
