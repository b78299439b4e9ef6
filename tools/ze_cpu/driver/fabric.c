// SPDX-License-Identifier: MIT
// Each device is a vertex of the fabric, with the same handle. There is no link between devices.
#include "entry.h"

#include <string.h>

// Headers of 1.4 and newer ones spell its name in two ways.
#define SUB_DEVICE_VERTEX ((ze_fabric_vertex_exp_type_t)2)

ze_result_t ZE_APICALL cpu_zeFabricVertexGetExp(ze_driver_handle_t hDriver, uint32_t *pCount,
                                                ze_fabric_vertex_handle_t *phVertices)
{
    return cpu_zeDeviceGet(hDriver, pCount, (ze_device_handle_t *)phVertices);
}

ze_result_t ZE_APICALL cpu_zeFabricVertexGetSubVerticesExp(ze_fabric_vertex_handle_t hVertex,
                                                           uint32_t *pCount,
                                                           ze_fabric_vertex_handle_t *phSubvertices)
{
    return cpu_zeDeviceGetSubDevices((ze_device_handle_t)hVertex, pCount,
                                     (ze_device_handle_t *)phSubvertices);
}

ze_result_t ZE_APICALL cpu_zeFabricVertexGetPropertiesExp(
    ze_fabric_vertex_handle_t hVertex, ze_fabric_vertex_exp_properties_t *pVertexProperties)
{
    ze_device_properties_t device = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    ze_pci_ext_properties_t pci = {.stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES};
    cpu_zeDeviceGetProperties((ze_device_handle_t)hVertex, &device);
    cpu_zeDevicePciGetPropertiesExt((ze_device_handle_t)hVertex, &pci); // or zeros
    memcpy(pVertexProperties->uuid.id, device.uuid.id, sizeof(device.uuid.id));
    pVertexProperties->type = device.flags & ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE
                                  ? SUB_DEVICE_VERTEX
                                  : ZE_FABRIC_VERTEX_EXP_TYPE_DEVICE;
    pVertexProperties->remote = 0;
    pVertexProperties->address =
        (ze_fabric_vertex_pci_exp_address_t){.domain = pci.address.domain,
                                             .bus = pci.address.bus,
                                             .device = pci.address.device,
                                             .function = pci.address.function};
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeFabricVertexGetDeviceExp(ze_fabric_vertex_handle_t hVertex,
                                                      ze_device_handle_t *phDevice)
{
    *phDevice = (ze_device_handle_t)hVertex;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeDeviceGetFabricVertexExp(ze_device_handle_t hDevice,
                                                      ze_fabric_vertex_handle_t *phVertex)
{
    *phVertex = (ze_fabric_vertex_handle_t)hDevice;
    return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL cpu_zeFabricEdgeGetExp(ze_fabric_vertex_handle_t hVertexA,
                                              ze_fabric_vertex_handle_t hVertexB, uint32_t *pCount,
                                              ze_fabric_edge_handle_t *phEdges)
{
    *pCount = 0;
    return ZE_RESULT_SUCCESS;
}
