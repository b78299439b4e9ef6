// SPDX-License-Identifier: MIT
#include "core/log.h"
#include "ur/handles.h"
#include "ur/info.h"

struct zepi_object zepi_ur_adapter;

ur_result_t zepi_ur_check_adapter(ur_adapter_handle_t adapter)
{
    if (!adapter)
        return zepi_ur_refuse(UR_RESULT_ERROR_INVALID_NULL_HANDLE, "the adapter is NULL");
    return (void *)adapter == (void *)&zepi_ur_adapter
               ? UR_RESULT_SUCCESS
               : zepi_ur_refuse(UR_RESULT_ERROR_INVALID_ARGUMENT, "%p is not the adapter",
                                (void *)adapter);
}

ur_result_t zepi_urAdapterGet(uint32_t NumEntries, ur_adapter_handle_t *phAdapters,
                              uint32_t *pNumAdapters)
{
    const ur_result_t result = zepi_ur_check_list(NumEntries, phAdapters);
    if (result != UR_RESULT_SUCCESS)
        return result;
    if (phAdapters) {
        phAdapters[0] = (ur_adapter_handle_t)zepi_retain(&zepi_ur_adapter);
    }
    if (pNumAdapters)
        *pNumAdapters = 1;
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_urAdapterRetain(ur_adapter_handle_t hAdapter)
{
    return zepi_ur_retain(zepi_ur_check_adapter(hAdapter), hAdapter);
}

ur_result_t zepi_urAdapterRelease(ur_adapter_handle_t hAdapter)
{
    const ur_result_t result = zepi_ur_check_adapter(hAdapter);
    if (result != UR_RESULT_SUCCESS)
        return result;
    unsigned references = atomic_load_explicit(&zepi_ur_adapter.references, memory_order_relaxed);
    // A release too many leaves the count at 0.
    while (references > 0 && !atomic_compare_exchange_weak_explicit(
                                 &zepi_ur_adapter.references, &references, references - 1,
                                 memory_order_relaxed, memory_order_relaxed))
        ;
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_urAdapterGetLastError(ur_adapter_handle_t hAdapter, const char **ppMessage,
                                       int32_t *pError)
{
    zepi_result_t code;
    ur_result_t result;
    if ((result = zepi_ur_check_adapter(hAdapter)) ||
        (result = zepi_ur_check_pointer(ppMessage, "ppMessage")) ||
        (result = zepi_ur_check_pointer(pError, "pError")))
        return result;
    *ppMessage = zepi_last_error(&code);
    *pError = (int32_t)code;
    return UR_RESULT_SUCCESS;
}

static const struct zepi_ur_query adapter_queries[] = {
    {ZEPI_UR_IS(ADAPTER_INFO_BACKEND, U32, UR_BACKEND_LEVEL_ZERO)},
    {ZEPI_UR_REFERENCES(ADAPTER_INFO_REFERENCE_COUNT)},
    {ZEPI_UR_IS(ADAPTER_INFO_VERSION, U32, 1)},
};

ZEPI_UR_DEFINE_GET_INFO(Adapter, , adapter, zepi_ur_check_adapter, adapter_queries,
                        ADAPTER_INFO_VERSION)

// The host's logger.
static struct zepi_mutex logger_mutex; // guards the next two; nothing is called under it
static ur_logger_callback_t logger;    // NULL: there is none
static void *logger_data;

// Calls of the host's logger have lines, too: it gets none of them, and the call that it was told
// of keeps its error.
static void write_log_line(enum zepi_log_level level, const char *line)
{
    static _Thread_local bool is_in_logger;
    struct zepi_error error;
    zepi_mutex_lock(&logger_mutex);
    const ur_logger_callback_t function = logger;
    void *data = logger_data;
    zepi_mutex_unlock(&logger_mutex);
    if (!function || is_in_logger)
        return;
    zepi_error_save(&error);
    is_in_logger = true;
    function(level <= ZEPI_LOG_ERROR  ? UR_LOGGER_LEVEL_ERROR
             : level == ZEPI_LOG_INFO ? UR_LOGGER_LEVEL_INFO
                                      : UR_LOGGER_LEVEL_DEBUG,
             line, data);
    is_in_logger = false;
    zepi_error_restore(&error);
}

static const enum zepi_log_level log_levels[] = {
    [UR_LOGGER_LEVEL_DEBUG] = ZEPI_LOG_DEBUG, [UR_LOGGER_LEVEL_INFO] = ZEPI_LOG_INFO,
    [UR_LOGGER_LEVEL_WARN] = ZEPI_LOG_ERROR,  [UR_LOGGER_LEVEL_ERROR] = ZEPI_LOG_ERROR,
    [UR_LOGGER_LEVEL_QUIET] = ZEPI_LOG_OFF,
};

static ur_result_t check_logger_level(ur_logger_level_t level)
{
    return level <= UR_LOGGER_LEVEL_QUIET ? UR_RESULT_SUCCESS
                                          : zepi_ur_refuse(UR_RESULT_ERROR_INVALID_ENUMERATION,
                                                           "log level %d is not known", (int)level);
}

ur_result_t zepi_urAdapterSetLoggerCallback(ur_adapter_handle_t hAdapter,
                                            ur_logger_callback_t pfnLoggerCallback, void *pUserData,
                                            ur_logger_level_t level)
{
    ur_result_t result;
    if ((result = zepi_ur_check_adapter(hAdapter)) ||
        (!pfnLoggerCallback && (result = zepi_ur_refuse_null("pfnLoggerCallback"))) ||
        (result = check_logger_level(level)))
        return result;
    zepi_mutex_lock(&logger_mutex);
    logger = pfnLoggerCallback;
    logger_data = pUserData;
    zepi_mutex_unlock(&logger_mutex);
    zepi_log_set_host(write_log_line, log_levels[level]);
    return UR_RESULT_SUCCESS;
}

ur_result_t zepi_urAdapterSetLoggerCallbackLevel(ur_adapter_handle_t hAdapter,
                                                 ur_logger_level_t level)
{
    ur_result_t result = zepi_ur_check_adapter(hAdapter);
    result = result ? result : check_logger_level(level);
    if (result == UR_RESULT_SUCCESS)
        zepi_log_set_host(write_log_line, log_levels[level]);
    return result;
}
