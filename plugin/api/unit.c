// SPDX-License-Identifier: MIT
// Modules of translation units.
#include "api/api.h"
#include "api/check.h"
#include "program/built_image.h"
#include "program/module.h"
#include "program/this_module.h"

static zepi_result_t check_unit_request(zepi_context_t context, zepi_module_state_t state,
                                        const void *output)
{
    zepi_result_t result;
    if ((result = zepi_check_object(context, &zepi_context_type)) ||
        (result = zepi_api_check_state(state)))
        return result;
    return zepi_api_check_output(output, "output");
}

zepi_result_t zepi_api_unit_get_module(zepi_unit_t token, zepi_context_t context,
                                       zepi_module_state_t state, zepi_module_t *out_module)
{
    struct zepi_unit_entry *unit = NULL;
    struct zepi_module *module = NULL;
    zepi_result_t result = check_unit_request(context, state, out_module);
    result = result ? result : zepi_unit_acquire(token, &unit);
    result = result ? result : zepi_unit_find_or_create_module(unit, context, state, &module);
    zepi_unit_release(unit);
    if (result == ZEPI_SUCCESS)
        *out_module = module;
    return result;
}

zepi_result_t zepi_api_unit_has_module(zepi_unit_t token, zepi_context_t context,
                                       zepi_module_state_t state, bool *out_has)
{
    struct zepi_unit_entry *unit = NULL;
    struct zepi_module *module = NULL;
    zepi_result_t result = check_unit_request(context, state, out_has);
    result = result ? result : zepi_unit_acquire(token, &unit);
    bool has = result == ZEPI_SUCCESS && unit->counts[state] > 0;
    // Objects and executables that no device of the context takes are left out of the module.
    if (has && state != ZEPI_MODULE_INPUT) {
        result = zepi_unit_find_or_create_module(unit, context, state, &module);
        has = module && zepi_module_count_images(module) > 0;
        zepi_release(module);
    }
    zepi_unit_release(unit);
    if (result == ZEPI_SUCCESS)
        *out_has = has;
    return result;
}

zepi_result_t zepi_api_unit_has_any_module(zepi_unit_t token, zepi_context_t context, bool *out_has)
{
    bool has = false;
    zepi_result_t result = check_unit_request(context, ZEPI_MODULE_INPUT, out_has);
    for (zepi_module_state_t state = ZEPI_MODULE_INPUT;
         state <= ZEPI_MODULE_EXECUTABLE && result == ZEPI_SUCCESS && !has; state++)
        result = zepi_api_unit_has_module(token, context, state, &has);
    if (result == ZEPI_SUCCESS)
        *out_has = has;
    return result;
}
