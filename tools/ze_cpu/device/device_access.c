// SPDX-License-Identifier: MIT
#include "device_access.h"

#include "device.h"
#include "options.h"

#include <pthread.h>

// Guards the counts; under it the process' mappings are changed, so that both agree.
static pthread_mutex_t access_mutex = PTHREAD_MUTEX_INITIALIZER;
static uint32_t running[CPU_DEVICE_MAXIMUM]; // commands on each root device and its parts
static uint32_t running_total;

void cpu_device_access_lock(void)
{
    pthread_mutex_lock(&access_mutex);
}

void cpu_device_access_unlock(void)
{
    pthread_mutex_unlock(&access_mutex);
}

bool cpu_device_access_is_open(ze_device_handle_t device)
{
    if (device == NULL || cpu_options()->is_integrated)
        return true;
    return (cpu_options()->has_peers ? running_total : running[cpu_device_root(device)->index]) > 0;
}

void cpu_device_access_begin(ze_device_handle_t device, void (*apply)(void))
{
    pthread_mutex_lock(&access_mutex);
    bool was_open = cpu_device_access_is_open(device);
    running[cpu_device_root(device)->index]++;
    running_total++;
    if (!was_open)
        apply();
    pthread_mutex_unlock(&access_mutex);
}

void cpu_device_access_end(ze_device_handle_t device, void (*apply)(void))
{
    pthread_mutex_lock(&access_mutex);
    running[cpu_device_root(device)->index]--;
    running_total--;
    if (!cpu_device_access_is_open(device))
        apply();
    pthread_mutex_unlock(&access_mutex);
}
