// SPDX-License-Identifier: MIT
// Variables and functions of a program's code, by name.
#include "copy/copy.h"
#include "program/module.h"
#include "queue/command/barrier.h"
#include "ur/command.h"
#include "ur/program/program.h"

// The variable in the program's code for a device of its context.
static ur_result_t find_program_global(ur_program_handle_t program, struct zepi_device *device,
                                       const char *name, struct zepi_global *out_global)
{
    struct zepi_module *module;
    ur_result_t result = zepi_ur_program_executable(zepi_ur_program(program), "variables", &module);
    if (result != UR_RESULT_SUCCESS)
        return result;
    result = zepi_ur_result(
        zepi_module_find_global(module, device, name, ZEPI_GLOBAL_VARIABLE, out_global));
    zepi_release(module);
    return result;
}

static ur_result_t check_program_device(ur_device_handle_t device, ur_program_handle_t program)
{
    ur_result_t result;
    if ((result = zepi_ur_check_device(device)) || (result = zepi_ur_check_program(program)))
        return result;
    return zepi_ur_check_device_in(zepi_ur_program(program)->context, device, NULL);
}

ur_result_t zepi_urProgramGetGlobalVariablePointer(ur_device_handle_t hDevice,
                                                   ur_program_handle_t hProgram,
                                                   const char *pGlobalVariableName,
                                                   size_t *pGlobalVariableSizeRet,
                                                   void **ppGlobalVariablePointerRet)
{
    struct zepi_global global;
    ur_result_t result;
    if ((result = check_program_device(hDevice, hProgram)) ||
        (result = zepi_ur_check_pointer(pGlobalVariableName, "pGlobalVariableName")) ||
        (result =
             zepi_ur_check_pointer(ppGlobalVariablePointerRet, "ppGlobalVariablePointerRet")) ||
        (result =
             find_program_global(hProgram, zepi_ur_device(hDevice), pGlobalVariableName, &global)))
        return result;
    *ppGlobalVariablePointerRet = global.address;
    if (pGlobalVariableSizeRet)
        *pGlobalVariableSizeRet = global.size_bytes;
    return UR_RESULT_SUCCESS;
}

// Kernels, and the functions that the SPIR-V exports.
static bool has_function(const struct zepi_module *module, const char *name)
{
    bool is_kernel = zepi_module_has_kernel(module, name);
    for (uint32_t i = 0; i < module->image_count && !is_kernel; i++) {
        const struct zepi_spirv *spirv = zepi_device_image_spirv(module->images[i]);
        for (uint32_t at = 0; spirv && at < spirv->symbol_count; at++) {
            const struct zepi_spirv_symbol *symbol = &spirv->symbols[at];
            if (symbol->is_function && symbol->linkage != ZEPI_SPIRV_IMPORT &&
                strcmp(symbol->name, name) == 0)
                return true;
        }
    }
    return is_kernel;
}

ur_result_t zepi_urProgramGetFunctionPointer(ur_device_handle_t hDevice,
                                             ur_program_handle_t hProgram,
                                             const char *pFunctionName, void **ppFunctionPointer)
{
    struct zepi_global function;
    struct zepi_module *module;
    ur_result_t result;
    if ((result = check_program_device(hDevice, hProgram)) ||
        (result = zepi_ur_check_pointer(pFunctionName, "pFunctionName")) ||
        (result = zepi_ur_check_pointer(ppFunctionPointer, "ppFunctionPointer")) ||
        (result = zepi_ur_program_executable(zepi_ur_program(hProgram), "functions", &module)))
        return result;
    const zepi_result_t found = zepi_module_find_global(
        module, zepi_ur_device(hDevice), pFunctionName, ZEPI_GLOBAL_FUNCTION, &function);
    const bool is_function = has_function(module, pFunctionName);
    zepi_release(module);
    // Drivers without function pointers know no name.
    if (found == ZEPI_ERROR_INVALID_VALUE || found == ZEPI_ERROR_UNSUPPORTED)
        return (zepi_ur_fail(found), is_function ? UR_RESULT_ERROR_FUNCTION_ADDRESS_NOT_AVAILABLE
                                                 : UR_RESULT_ERROR_INVALID_KERNEL_NAME);
    if (found != ZEPI_SUCCESS)
        return zepi_ur_fail(found);
    *ppFunctionPointer = function.address;
    return UR_RESULT_SUCCESS;
}

// Bytes of a variable, to be copied from or to memory.
struct global_part {
    ur_program_handle_t program;
    const char *name;
    size_t offset_bytes, size_bytes;
};

static ur_result_t find_global_part(const struct zepi_queue *queue, const struct global_part *part,
                                    char **out_address)
{
    struct zepi_global global;
    ur_result_t result;
    if ((result = zepi_ur_check_program_in(queue->context, part->program,
                                           UR_RESULT_ERROR_INVALID_PROGRAM)) ||
        (result = zepi_ur_check_pointer(part->name, "name")) ||
        (result = find_program_global(part->program, queue->device, part->name, &global)))
        return result;
    if (part->offset_bytes > global.size_bytes ||
        part->size_bytes > global.size_bytes - part->offset_bytes)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE,
                              "%zu bytes from %zu on, of the variable '%s' with %zu bytes",
                              part->size_bytes, part->offset_bytes, part->name, global.size_bytes);
    *out_address = (char *)global.address + part->offset_bytes;
    return UR_RESULT_SUCCESS;
}

// Copies a part of a variable to memory, or from there.
static ur_result_t transfer_global(struct zepi_ur_command *command, const struct global_part *part,
                                   void *memory, ur_command_t type)
{
    const bool is_read = type == UR_COMMAND_DEVICE_GLOBAL_VARIABLE_READ;
    const char *name = is_read ? "pDst" : "pSrc";
    const size_t size = part->size_bytes;
    char *address = NULL;
    ur_result_t result;
    if ((result = zepi_ur_command_begin(command)) ||
        (result = find_global_part(command->queue, part, &address)) ||
        (result = size > 0 ? zepi_ur_check_range(command->queue->context, memory, size, name)
                           : zepi_ur_check_pointer(memory, name)))
        return result;
    zepi_event_t *event = zepi_ur_command_event(command);
    const zepi_result_t done =
        size > 0 ? zepi_queue_copy(command->queue, is_read ? memory : address,
                                   is_read ? address : memory, size, command->wait, event)
                 : zepi_queue_marker(command->queue, command->wait, event);
    return zepi_ur_command_end(command, done, type);
}

ur_result_t zepi_urEnqueueDeviceGlobalVariableWrite(ur_queue_handle_t hQueue,
                                                    ur_program_handle_t hProgram, const char *name,
                                                    bool blockingWrite, size_t count, size_t offset,
                                                    const void *pSrc, ZEPI_UR_ENQUEUE_PARAMETERS)
{
    const struct global_part part = {hProgram, name, offset, count};
    struct zepi_ur_command command = ZEPI_UR_COMMAND(hQueue, blockingWrite);
    return transfer_global(&command, &part, (void *)pSrc, UR_COMMAND_DEVICE_GLOBAL_VARIABLE_WRITE);
}

ur_result_t zepi_urEnqueueDeviceGlobalVariableRead(ur_queue_handle_t hQueue,
                                                   ur_program_handle_t hProgram, const char *name,
                                                   bool blockingRead, size_t count, size_t offset,
                                                   void *pDst, ZEPI_UR_ENQUEUE_PARAMETERS)
{
    const struct global_part part = {hProgram, name, offset, count};
    struct zepi_ur_command command = ZEPI_UR_COMMAND(hQueue, blockingRead);
    return transfer_global(&command, &part, pDst, UR_COMMAND_DEVICE_GLOBAL_VARIABLE_READ);
}
