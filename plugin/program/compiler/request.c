// SPDX-License-Identifier: MIT
#include "program/compiler/request.h"

#include "core/alloc.h"
#include "device/platform.h"

// ---- Requests ----

static const ze_module_program_exp_desc_t *find_program(const ze_module_desc_t *desc)
{
    const ze_base_desc_t *next = desc->pNext;
    while (next && next->stype != ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC)
        next = next->pNext;
    return (const ze_module_program_exp_desc_t *)next;
}

static void put_module(struct zepi_message *message, const void *bytes, size_t size_bytes,
                       const char *flags, const ze_module_constants_t *constants)
{
    const uint32_t count = constants ? constants->numConstants : 0;
    zepi_message_put_bytes(message, bytes, size_bytes);
    zepi_message_put_text(message, flags ? flags : "");
    zepi_message_put(message, count);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t value;
        memcpy(&value, constants->pConstantValues[i], sizeof(value));
        zepi_message_put(message, constants->pConstantIds[i]);
        zepi_message_put(message, value);
    }
}

void zepi_compiler_request_put(struct zepi_message *message, const struct zepi_device *device,
                               const ze_module_desc_t *desc)
{
    const ze_module_program_exp_desc_t *program = find_program(desc);
    zepi_message_put_text(message, device->platform->library);
    zepi_message_put(message, device->platform->properties.driverVersion);
    zepi_message_put(message, device->properties.vendorId);
    zepi_message_put(message, device->properties.deviceId);
    zepi_message_put(message, device->ip_version);
    zepi_message_put(message, program != NULL);
    zepi_message_put(message, program ? program->count : 1);
    if (!program)
        put_module(message, desc->pInputModule, desc->inputSize, desc->pBuildFlags,
                   desc->pConstants);
    for (uint32_t i = 0; program && i < program->count; i++)
        put_module(message, program->pInputModules[i], program->inputSizes[i],
                   program->pBuildFlags[i], program->pConstants ? program->pConstants[i] : NULL);
}

// Ids and values lie in one block, which the ids begin.
static bool take_constants(struct zepi_message *message, ze_module_constants_t *constants)
{
    const uint32_t count = zepi_message_take_count(message);
    const void **pointers = zepi_allocate(count, sizeof(void *) + 2 * sizeof(uint64_t));
    if (!pointers)
        return false;
    uint64_t *values = (uint64_t *)(pointers + count);
    uint32_t *ids = (uint32_t *)(values + count);
    for (uint32_t i = 0; i < count; i++) {
        ids[i] = (uint32_t)zepi_message_take(message);
        values[i] = zepi_message_take(message);
        pointers[i] = &values[i];
    }
    *constants = (ze_module_constants_t){count, ids, pointers};
    return true;
}

static bool take_modules(struct zepi_message *message, struct zepi_compiler_request *request)
{
    const uint32_t count = zepi_message_take_count(message);
    request->sizes = zepi_allocate(count, sizeof(size_t));
    request->modules = zepi_allocate(count, sizeof(uint8_t *));
    request->flags = zepi_allocate(count, sizeof(char *));
    request->constants = zepi_allocate(count, sizeof(ze_module_constants_t));
    request->constant_lists = zepi_allocate(count, sizeof(ze_module_constants_t *));
    bool is_taken = request->sizes && request->modules && request->flags && request->constants &&
                    request->constant_lists;
    for (uint32_t i = 0; i < count && is_taken; i++) {
        request->modules[i] = zepi_message_take_bytes(message, &request->sizes[i]);
        request->flags[i] = zepi_message_take_text(message);
        is_taken = take_constants(message, &request->constants[i]) && !message->is_bad;
        request->constant_lists[i] = &request->constants[i];
        request->program.count++;
    }
    return is_taken && count > 0;
}

bool zepi_compiler_request_take(struct zepi_message *message, struct zepi_compiler_request *request)
{
    *request = (struct zepi_compiler_request){0};
    request->driver_library = zepi_message_take_text(message);
    request->driver_version = (uint32_t)zepi_message_take(message);
    request->vendor = (uint32_t)zepi_message_take(message);
    request->device = (uint32_t)zepi_message_take(message);
    request->ip_version = (uint32_t)zepi_message_take(message);
    const bool is_program = zepi_message_take(message) != 0;
    if (!take_modules(message, request))
        return false;
    bool has_constants = false;
    for (uint32_t i = 0; i < request->program.count; i++)
        has_constants = has_constants || request->constants[i].numConstants > 0;
    request->desc.stype = ZE_STRUCTURE_TYPE_MODULE_DESC;
    request->desc.format = ZE_MODULE_FORMAT_IL_SPIRV;
    if (is_program) {
        request->program.stype = ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC;
        request->program.inputSizes = request->sizes;
        request->program.pInputModules = request->modules;
        request->program.pBuildFlags = request->flags;
        request->program.pConstants = has_constants ? request->constant_lists : NULL;
        request->desc.pNext = &request->program;
    } else {
        request->desc.inputSize = request->sizes[0];
        request->desc.pInputModule = request->modules[0];
        request->desc.pBuildFlags = request->flags[0];
        request->desc.pConstants = has_constants ? &request->constants[0] : NULL;
    }
    return true;
}

void zepi_compiler_request_finish(struct zepi_compiler_request *request)
{
    for (uint32_t i = 0; i < request->program.count; i++)
        zepi_free((void *)request->constants[i].pConstantValues);
    zepi_free(request->sizes);
    zepi_free((void *)request->modules);
    zepi_free((void *)request->flags);
    zepi_free(request->constants);
    zepi_free((void *)request->constant_lists);
    *request = (struct zepi_compiler_request){0};
}

// ---- Replies ----

void zepi_compiler_reply_put(struct zepi_message *message, const struct zepi_compiler_reply *reply)
{
    zepi_message_put_text(message, reply->refusal);
    zepi_message_put(message, reply->ze);
    zepi_message_put_bytes(message, reply->log, reply->log_bytes);
    zepi_message_put_bytes(message, reply->native, reply->native_bytes);
    zepi_message_put_bytes(message, reply->libraries,
                           reply->libraries ? sizeof(*reply->libraries) : 0);
}

static bool are_libraries(const struct zepi_compiler_libraries *libraries, size_t size_bytes)
{
    bool are = size_bytes == sizeof(*libraries) && libraries->count <= ZEPI_COMPILER_LIBRARIES_MAX;
    for (uint32_t i = 0; are && i < libraries->count; i++)
        are = !libraries->list[i].path[ZEPI_LIBRARY_PATH_BYTES - 1];
    return are;
}

bool zepi_compiler_reply_take(struct zepi_message *message, struct zepi_compiler_reply *reply)
{
    size_t libraries_bytes;
    *reply = (struct zepi_compiler_reply){0};
    reply->refusal = zepi_message_take_text(message);
    reply->ze = (ze_result_t)zepi_message_take(message);
    reply->log = zepi_message_take_bytes(message, &reply->log_bytes);
    reply->native = zepi_message_take_bytes(message, &reply->native_bytes);
    reply->libraries = zepi_message_take_bytes(message, &libraries_bytes);
    if (libraries_bytes == 0)
        reply->libraries = NULL;
    else
        message->is_bad = message->is_bad || !are_libraries(reply->libraries, libraries_bytes);
    return !message->is_bad;
}
