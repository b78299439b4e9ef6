// SPDX-License-Identifier: MIT
#include "fuzz.h"
#include "program/compiler/request.h"

static uint64_t sum;

static void read_all(const void *bytes, size_t size_bytes)
{
    for (size_t i = 0; i < size_bytes; i++)
        sum += ((const uint8_t *)bytes)[i];
}

static struct zepi_message copy_message(const uint8_t *bytes, size_t size_bytes)
{
    struct zepi_message message = {0};
    message.size_bytes = size_bytes / 8 * 8; // as delivery has it
    message.bytes = malloc(message.size_bytes + 1);
    memcpy(message.bytes, bytes, message.size_bytes);
    return message;
}

// Messages between a process and its compiler process: all accepted fields lie in the message.
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
    struct zepi_compiler_reply reply;
    struct zepi_compiler_request request;
    struct zepi_message message = copy_message(bytes, size_bytes);
    if (zepi_compiler_reply_take(&message, &reply)) {
        read_all(reply.refusal, strlen(reply.refusal));
        read_all(reply.log, reply.log_bytes);
        read_all(reply.native, reply.native_bytes);
        for (uint32_t i = 0; reply.libraries && i < reply.libraries->count; i++)
            read_all(reply.libraries->list[i].path, strlen(reply.libraries->list[i].path));
    }
    message.at = 0;
    message.is_bad = false;
    if (zepi_compiler_request_take(&message, &request)) {
        read_all(request.driver_library, strlen(request.driver_library));
        for (uint32_t i = 0; i < request.program.count; i++) {
            read_all(request.modules[i], request.sizes[i]);
            read_all(request.flags[i], strlen(request.flags[i]));
            for (uint32_t at = 0; at < request.constants[i].numConstants; at++)
                read_all(request.constants[i].pConstantValues[at], 8);
        }
    }
    zepi_compiler_request_finish(&request);
    free(message.bytes);
    return 0;
}
