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
    struct zepi_module *module = zepi_ur_program_module(zepi_ur_program(program));
    if (!module || module->state != ZEPI_MODULE_EXECUTABLE) {
        zepi_release(module);
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_PROGRAM_EXECUTABLE,
                              "the program was not built: it has no variables yet");
    }
    const zepi_result_t result = zepi_module_find_global(module, device, name, out_global);
    zepi_release(module);
    return result == ZEPI_ERROR_INVALID_VALUE
               ? (zepi_ur_fail(result), UR_RESULT_ERROR_INVALID_VALUE)
               : zepi_ur_result(result);
}

static ur_result_t check_program_device(ur_device_handle_t device, ur_program_handle_t program)
{
    ur_result_t result = zepi_ur_check_device(device);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_program(program);
    return result == UR_RESULT_SUCCESS
               ? zepi_ur_check_context_device(
                     (ur_context_handle_t)zepi_ur_program(program)->context, device, NULL)
               : result;
}

ur_result_t zepi_urProgramGetGlobalVariablePointer(ur_device_handle_t hDevice,
                                                   ur_program_handle_t hProgram,
                                                   const char *pGlobalVariableName,
                                                   size_t *pGlobalVariableSizeRet,
                                                   void **ppGlobalVariablePointerRet)
{
    struct zepi_global global;
    ur_result_t result = check_program_device(hDevice, hProgram);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_pointer(pGlobalVariableName, "pGlobalVariableName");
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_pointer(ppGlobalVariablePointerRet, "ppGlobalVariablePointerRet");
    if (result == UR_RESULT_SUCCESS)
        result =
            find_program_global(hProgram, zepi_ur_device(hDevice), pGlobalVariableName, &global);
    if (result != UR_RESULT_SUCCESS)
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
    void *address;
    ur_result_t result = check_program_device(hDevice, hProgram);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_pointer(pFunctionName, "pFunctionName");
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_pointer(ppFunctionPointer, "ppFunctionPointer");
    if (result != UR_RESULT_SUCCESS)
        return result;
    struct zepi_module *module = zepi_ur_program_module(zepi_ur_program(hProgram));
    if (!module || module->state != ZEPI_MODULE_EXECUTABLE) {
        zepi_release(module);
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_PROGRAM_EXECUTABLE,
                              "the program was not built: it has no functions yet");
    }
    const zepi_result_t found =
        zepi_module_find_function(module, zepi_ur_device(hDevice), pFunctionName, &address);
    const bool is_function = has_function(module, pFunctionName);
    zepi_release(module);
    // Drivers without function pointers know no name.
    if (found == ZEPI_ERROR_INVALID_VALUE || found == ZEPI_ERROR_UNSUPPORTED)
        return (zepi_ur_fail(found), is_function ? UR_RESULT_ERROR_FUNCTION_ADDRESS_NOT_AVAILABLE
                                                 : UR_RESULT_ERROR_INVALID_KERNEL_NAME);
    if (found != ZEPI_SUCCESS)
        return zepi_ur_fail(found);
    *ppFunctionPointer = address;
    return UR_RESULT_SUCCESS;
}

// The frame, and the part of the variable that is meant.
static ur_result_t global_command_begin(struct zepi_ur_command *command, ur_queue_handle_t queue,
                                        ur_program_handle_t program, const char *name,
                                        bool is_blocking, size_t count, size_t offset,
                                        uint32_t wait_count, const ur_event_handle_t *wait_list,
                                        ur_event_handle_t *out_event, char **out_address)
{
    struct zepi_global global;
    ur_result_t result =
        zepi_ur_command_begin(command, queue, is_blocking, wait_count, wait_list, out_event);
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_program(program);
    if (result == UR_RESULT_SUCCESS && zepi_ur_program(program)->context != command->queue->context)
        result = zepi_ur_refuse(UR_RESULT_ERROR_INVALID_PROGRAM,
                                "the program is of another context than the queue");
    if (result == UR_RESULT_SUCCESS)
        result = zepi_ur_check_pointer(name, "name");
    if (result == UR_RESULT_SUCCESS)
        result = find_program_global(program, command->queue->device, name, &global);
    if (result != UR_RESULT_SUCCESS)
        return result;
    if (offset > global.size_bytes || count > global.size_bytes - offset)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_VALUE,
                              "%zu bytes from %zu on, of the variable '%s' with %zu bytes", count,
                              offset, name, global.size_bytes);
    *out_address = (char *)global.address + offset;
    return UR_RESULT_SUCCESS;
}

static zepi_result_t copy_or_mark(struct zepi_ur_command *command, void *to, const void *from,
                                  size_t count)
{
    zepi_event_t *event = zepi_ur_command_event(command);
    return count > 0 ? zepi_queue_copy(command->queue, to, from, count, command->wait, event)
                     : zepi_queue_marker(command->queue, command->wait, event);
}

ur_result_t zepi_urEnqueueDeviceGlobalVariableWrite(ur_queue_handle_t hQueue,
                                                    ur_program_handle_t hProgram, const char *name,
                                                    bool blockingWrite, size_t count, size_t offset,
                                                    const void *pSrc, uint32_t numEventsInWaitList,
                                                    const ur_event_handle_t *phEventWaitList,
                                                    ur_event_handle_t *phEvent)
{
    struct zepi_ur_command command;
    char *address = NULL;
    ur_result_t result =
        global_command_begin(&command, hQueue, hProgram, name, blockingWrite, count, offset,
                             numEventsInWaitList, phEventWaitList, phEvent, &address);
    if (result == UR_RESULT_SUCCESS)
        result = count > 0 ? zepi_ur_check_range(command.queue->context, pSrc, count, "pSrc")
                           : zepi_ur_check_pointer(pSrc, "pSrc");
    if (result != UR_RESULT_SUCCESS)
        return result;
    return zepi_ur_command_end(&command, copy_or_mark(&command, address, pSrc, count),
                               UR_COMMAND_DEVICE_GLOBAL_VARIABLE_WRITE);
}

ur_result_t zepi_urEnqueueDeviceGlobalVariableRead(ur_queue_handle_t hQueue,
                                                   ur_program_handle_t hProgram, const char *name,
                                                   bool blockingRead, size_t count, size_t offset,
                                                   void *pDst, uint32_t numEventsInWaitList,
                                                   const ur_event_handle_t *phEventWaitList,
                                                   ur_event_handle_t *phEvent)
{
    struct zepi_ur_command command;
    char *address = NULL;
    ur_result_t result =
        global_command_begin(&command, hQueue, hProgram, name, blockingRead, count, offset,
                             numEventsInWaitList, phEventWaitList, phEvent, &address);
    if (result == UR_RESULT_SUCCESS)
        result = count > 0 ? zepi_ur_check_range(command.queue->context, pDst, count, "pDst")
                           : zepi_ur_check_pointer(pDst, "pDst");
    if (result != UR_RESULT_SUCCESS)
        return result;
    return zepi_ur_command_end(&command, copy_or_mark(&command, pDst, address, count),
                               UR_COMMAND_DEVICE_GLOBAL_VARIABLE_READ);
}
