// SPDX-License-Identifier: MIT
#include "later.h"

#include "base/status.h"

static zepi_result_t fail(const char *function)
{
    return zepi_fail(ZEPI_ERROR_UNSUPPORTED, "%s is not supported by this version", function);
}

zepi_result_t zepi_buffer_create(zepi_context_t context, size_t size_bytes, const void *host_data,
                                 zepi_buffer_t *out_buffer)
{
    (void)context;
    (void)size_bytes;
    (void)host_data;
    (void)out_buffer;
    return fail("buffer_create");
}

zepi_result_t zepi_buffer_get_address(zepi_buffer_t buffer, zepi_device_t device,
                                      void **out_address, size_t *out_size_bytes)
{
    (void)buffer;
    (void)device;
    (void)out_address;
    (void)out_size_bytes;
    return fail("buffer_get_address");
}
