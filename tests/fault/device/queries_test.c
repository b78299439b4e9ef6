// SPDX-License-Identifier: MIT
//
// Asks a device every query of the header, and about its peer, while each Level Zero call fails in
// turn.
#include "walk_ur.h"

#include "ur_queries.h"

#include <stdlib.h>
#include <string.h>

#define ROOM 65536
#define UNTOUCHED 0xa5

static zepi_device_t devices[2];
static _Alignas(16) unsigned char answer[ROOM];

#define VALUE(query, type, count, is_optional) query,
static const ur_device_info_t queries[] = {UR_QUERIES_ur_device_info_t(VALUE)};
static const ur_exp_peer_info_t peer_queries[] = {UR_QUERIES_ur_exp_peer_info_t(VALUE)};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static ur_result_t ask_device(uint32_t query, size_t size, void *value, size_t *out_size)
{
    return zepi_urDeviceGetInfo((ur_device_handle_t)devices[0], (ur_device_info_t)query, size,
                                value, out_size);
}

static ur_result_t ask_peer(uint32_t query, size_t size, void *value, size_t *out_size)
{
    return zepi_urUsmP2PPeerAccessGetInfoExp((ur_device_handle_t)devices[0],
                                             (ur_device_handle_t)devices[1],
                                             (ur_exp_peer_info_t)query, size, value, out_size);
}

// The size, then the answer; a failure leaves no part of one.
static zepi_result_t ask(ur_result_t (*function)(uint32_t, size_t, void *, size_t *),
                         uint32_t query)
{
    size_t size = 0;
    memset(answer, UNTOUCHED, sizeof(answer));
    ur_result_t result = function(query, 0, NULL, &size);
    if (result == UR_RESULT_SUCCESS) {
        WALK_EXPECT(size <= ROOM);
        result = function(query, size > 0 ? size : 8, answer, NULL); // none is an answer, too
    }
    if (result == UR_RESULT_SUCCESS)
        return ZEPI_SUCCESS;
    for (size_t i = 0; i < size; i++)
        WALK_EXPECT(answer[i] == UNTOUCHED);
    return result == UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION ? ZEPI_SUCCESS : told(result);
}

static zepi_result_t ask_everything(void)
{
    zepi_result_t result;
    for (size_t i = 0; i < COUNT(queries); i++)
        STEP(ask(ask_device, queries[i]));
    for (size_t i = 0; i < COUNT(peer_queries); i++)
        STEP(ask(ask_peer, peer_queries[i]));
out:
    return result;
}

int main(void)
{
    zepi_platform_t platform;
    uint32_t count;
    setenv("ZE_CPU_DEVICES", "2", 1);
    setenv("ZE_CPU_PCI", "1", 1);
    setenv("ZES_ENABLE_SYSMAN", "1", 1);
    walk_begin();
    TEST_OK(zepi.platform_get(1, &platform, &count));
    TEST_OK(zepi.device_get(platform, 2, devices, &count));
    // Some answers are found once a device.
    TEST_OK(ask_everything());
    walk_keep();
    walk_calls("queries, device lost", ask_everything, "ZE_RESULT_ERROR_DEVICE_LOST");
    walk_calls("queries, out of memory", ask_everything, "ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY");
    for (int i = 0; i < 2; i++)
        TEST_OK(zepi.release(devices[i]));
    TEST_OK(zepi.release(platform));
    return 0;
}
