// SPDX-License-Identifier: MIT
// Access of one device to another one's memory. Level Zero has it wherever there is a link, and
// knows no switch for it.
#include "device/platform.h"
#include "ur/handles.h"
#include "ur/info.h"
#include "ze/ze.h"

static ur_result_t check_peer_devices(ur_device_handle_t command_device,
                                      ur_device_handle_t peer_device)
{
    const ur_result_t result = zepi_ur_check_device(command_device);
    return result ? result : zepi_ur_check_device(peer_device);
}

// Another driver's devices are unknown to this one.
static ur_result_t get_peer_info(ur_device_handle_t command_device, ur_device_handle_t peer_device,
                                 ur_exp_peer_info_t query, uint64_t *out_has)
{
    const struct zepi_device *device = zepi_ur_device(command_device);
    const struct zepi_device *peer = zepi_ur_device(peer_device);
    ze_device_p2p_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_P2P_PROPERTIES};
    ze_bool_t has_access = false;
    zepi_result_t result = ZEPI_SUCCESS;
    if (device->platform == peer->platform)
        result = query == UR_EXP_PEER_INFO_UR_PEER_ACCESS_SUPPORT
                     ? ZEPI_ZE(zeDeviceCanAccessPeer, device->ze, peer->ze, &has_access)
                     : ZEPI_ZE(zeDeviceGetP2PProperties, device->ze, peer->ze, &properties);
    *out_has = has_access || properties.flags & ZE_DEVICE_P2P_PROPERTY_FLAG_ATOMICS;
    return zepi_ur_result(result);
}

ur_result_t zepi_urUsmP2PEnablePeerAccessExp(ur_device_handle_t commandDevice,
                                             ur_device_handle_t peerDevice)
{
    uint64_t has_access = false;
    ur_result_t result = check_peer_devices(commandDevice, peerDevice);
    if (result == UR_RESULT_SUCCESS)
        result = get_peer_info(commandDevice, peerDevice, UR_EXP_PEER_INFO_UR_PEER_ACCESS_SUPPORT,
                               &has_access);
    if (result == UR_RESULT_SUCCESS && !has_access)
        result = zepi_ur_refuse(UR_RESULT_ERROR_UNSUPPORTED_FEATURE,
                                "device '%s' has no link to device '%s'",
                                zepi_ur_device(commandDevice)->properties.name,
                                zepi_ur_device(peerDevice)->properties.name);
    return result;
}

ur_result_t zepi_urUsmP2PDisablePeerAccessExp(ur_device_handle_t commandDevice,
                                              ur_device_handle_t peerDevice)
{
    return check_peer_devices(commandDevice, peerDevice);
}

static const struct zepi_ur_query peer_queries[] = {
    {ZEPI_UR_ITSELF(EXP_PEER_INFO_UR_PEER_ACCESS_SUPPORT, U32)},
    {ZEPI_UR_ITSELF(EXP_PEER_INFO_UR_PEER_ATOMICS_SUPPORT, U32)},
};

ur_result_t zepi_urUsmP2PPeerAccessGetInfoExp(ur_device_handle_t commandDevice,
                                              ur_device_handle_t peerDevice,
                                              ur_exp_peer_info_t query, size_t value_size,
                                              void *value, size_t *out_size)
{
    uint64_t has = false;
    ur_result_t result = check_peer_devices(commandDevice, peerDevice);
    result = result ? result : get_peer_info(commandDevice, peerDevice, query, &has);
    return zepi_ur_get_info(result, &has, ZEPI_UR_ROWS(peer_queries), query,
                            UR_EXP_PEER_INFO_UR_PEER_ATOMICS_SUPPORT, value_size, value, out_size);
}
