// SPDX-License-Identifier: MIT
#include "adapter_probe.h"

#include "../paths.h"
#include "../probe.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PLATFORMS 16
#define DEVICE_TYPE_ALL 2

enum { EXIT_DEVICE, EXIT_NO_LOADER, EXIT_DEVICELESS };

// The loader's functions are the same in all releases that zepi serves, and this program is built
// without Unified Runtime's headers, too.
static int count_devices(const char *path)
{
    uint32_t (*initialize)(uint32_t flags, void *config);
    uint32_t (*get_adapters)(uint32_t room, void **adapters, uint32_t *count);
    uint32_t (*get_platforms)(void *adapter, uint32_t room, void **platforms, uint32_t *count);
    uint32_t (*get_devices)(void *platform, uint32_t type, uint32_t room, void **devices,
                            uint32_t *count);
    void *loader = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *const symbols[] = {loader ? dlsym(loader, "urLoaderInit") : NULL,
                             loader ? dlsym(loader, "urAdapterGet") : NULL,
                             loader ? dlsym(loader, "urPlatformGet") : NULL,
                             loader ? dlsym(loader, "urDeviceGet") : NULL};
    void *adapter, *platforms[MAX_PLATFORMS];
    uint32_t adapter_count = 0, platform_count = 0, device_count = 0;
    memcpy(&initialize, &symbols[0], sizeof(initialize));
    memcpy(&get_adapters, &symbols[1], sizeof(get_adapters));
    memcpy(&get_platforms, &symbols[2], sizeof(get_platforms));
    memcpy(&get_devices, &symbols[3], sizeof(get_devices));
    if (!initialize || !get_adapters || !get_platforms || !get_devices)
        return EXIT_NO_LOADER;
    // An adapter without a device may say that it is none.
    if (initialize(0, NULL) || get_adapters(1, &adapter, &adapter_count) || adapter_count == 0 ||
        get_platforms(adapter, MAX_PLATFORMS, platforms, &platform_count))
        platform_count = 0;
    for (uint32_t i = 0; i < platform_count && i < MAX_PLATFORMS && device_count == 0; i++) {
        if (get_devices(platforms[i], DEVICE_TYPE_ALL, 0, NULL, &device_count))
            device_count = 0;
    }
    return device_count > 0 ? EXIT_DEVICE : EXIT_DEVICELESS;
}

struct adapter {
    const char *loader;
    const char *path;
};

static int look_for_devices(void *user)
{
    const struct adapter *adapter = user;
    path_ask_for_adapter(adapter->path);
    setenv("UR_ADAPTERS_FORCE_LOAD", adapter->path, 1);
    return count_devices(adapter->loader);
}

const char *adapter_probe(const char *loader, const char *adapter)
{
    struct adapter probed = {loader, adapter};
    const int code = probe_in_process(look_for_devices, &probed, PROBE_SECONDS);
    switch (code) {
    case EXIT_DEVICE:
        return NULL;
    case EXIT_NO_LOADER:
        return "the runtime has no loader of adapters";
    case PROBE_NOT_STARTED:
        return "a process to look for its devices does not start";
    case -SIGALRM:
        return "it does not find its devices in time";
    default:
        return code < 0 ? "it crashes as it looks for devices" : "it finds no device";
    }
}
