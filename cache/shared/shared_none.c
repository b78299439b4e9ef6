// SPDX-License-Identifier: MIT
//
// In place of shared.c in a build without hiredis or libcrypto: there is never a store.
#include "cache/shared/shared.h"

#include <stdio.h>

const struct zepi_build_store_ops zepi_shared_store_ops;

struct zepi_shared *zepi_shared_create(const struct zepi_shared_config *config,
                                       char out_refusal[ZEPI_SHARED_TEXT_BYTES])
{
    (void)config;
    snprintf(out_refusal, ZEPI_SHARED_TEXT_BYTES,
             "this zepi is built without it: build zepi with libhiredis-dev and libssl-dev");
    return NULL;
}

void zepi_shared_destroy(struct zepi_shared *shared)
{
    (void)shared;
}

void zepi_shared_describe(const struct zepi_shared *shared, char out_state[ZEPI_SHARED_TEXT_BYTES])
{
    (void)shared;
    out_state[0] = '\0';
}
