// SPDX-License-Identifier: MIT
#include "device/fingerprint.h"

#include "base/alloc.h"
#include "device/platform.h"

struct zepi_fingerprint {
    pthread_mutex_t mutex; // guards what is below; held while files are read: others wait for them
    bool is_known;
    struct zepi_digest digest;
};

struct zepi_fingerprint *zepi_fingerprint_create(void)
{
    struct zepi_fingerprint *fingerprint = zepi_allocate(1, sizeof(*fingerprint));
    if (fingerprint)
        pthread_mutex_init(&fingerprint->mutex, NULL);
    return fingerprint;
}

void zepi_fingerprint_destroy(struct zepi_fingerprint *fingerprint)
{
    if (!fingerprint)
        return;
    pthread_mutex_destroy(&fingerprint->mutex);
    zepi_free(fingerprint);
}

struct zepi_digest zepi_fingerprint_get(struct zepi_platform *platform)
{
    return platform->fingerprint->digest;
}
