// SPDX-License-Identifier: MIT
#include "cache/shared/shared_library.h"

const struct zepi_shared_library zepi_shared_library = {
    .version = ZEPI_PROJECT_VERSION,
    .create = zepi_shared_create,
    .destroy = zepi_shared_destroy,
    .describe = zepi_shared_describe,
    .ops = &zepi_shared_store_ops,
};
