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
    return result == UR_RESULT_SUCCESS ? zepi_ur_check_device(peer_device) : result;
}

static ur_result_t get_info_peer_access(const struct zepi_device *device,
                                        const struct zepi_device *peer, bool *out_has)
{
    ze_bool_t has = false;
    // Another driver's devices are unknown to this one.
    const ur_result_t result =
        device->platform == peer->platform
            ? zepi_ur_result(ZEPI_ZE(zeDeviceCanAccessPeer, device->ze, peer->ze, &has))
            : UR_RESULT_SUCCESS;
    *out_has = has;
    return result;
}

static ur_result_t get_info_peer_atomics(const struct zepi_device *device,
                                         const struct zepi_device *peer, bool *out_has)
{
    ze_device_p2p_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_P2P_PROPERTIES};
    const ur_result_t result =
        device->platform == peer->platform
            ? zepi_ur_result(ZEPI_ZE(zeDeviceGetP2PProperties, device->ze, peer->ze, &properties))
            : UR_RESULT_SUCCESS;
    *out_has = properties.flags & ZE_DEVICE_P2P_PROPERTY_FLAG_ATOMICS;
    return result;
}

ur_result_t zepi_urUsmP2PEnablePeerAccessExp(ur_device_handle_t commandDevice,
                                             ur_device_handle_t peerDevice)
{
    bool has_access = false;
    ur_result_t result = check_peer_devices(commandDevice, peerDevice);
    if (result == UR_RESULT_SUCCESS)
        result = get_info_peer_access(zepi_ur_device(commandDevice), zepi_ur_device(peerDevice),
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

ur_result_t zepi_urUsmP2PPeerAccessGetInfoExp(ur_device_handle_t commandDevice,
                                              ur_device_handle_t peerDevice,
                                              ur_exp_peer_info_t propName, size_t propSize,
                                              void *pPropValue, size_t *pPropSizeRet)
{
    const struct zepi_ur_info info = {propSize, pPropValue, pPropSizeRet};
    bool has = false;
    ur_result_t result = check_peer_devices(commandDevice, peerDevice);
    if (result == UR_RESULT_SUCCESS && propName > UR_EXP_PEER_INFO_UR_PEER_ATOMICS_SUPPORT)
        result = zepi_ur_refuse_query(propName, UR_EXP_PEER_INFO_UR_PEER_ATOMICS_SUPPORT);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_info_check(&info);
    if (result != UR_RESULT_SUCCESS)
        return result;
    const struct zepi_device *device = zepi_ur_device(commandDevice);
    const struct zepi_device *peer = zepi_ur_device(peerDevice);
    result = propName == UR_EXP_PEER_INFO_UR_PEER_ACCESS_SUPPORT
                 ? get_info_peer_access(device, peer, &has)
                 : get_info_peer_atomics(device, peer, &has);
    const int value = has;
    return result == UR_RESULT_SUCCESS ? zepi_ur_info_return(&info, &value, sizeof(value)) : result;
}
