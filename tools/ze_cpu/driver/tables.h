// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_TABLES_H
#define ZE_CPU_TABLES_H

#include "ze_newer.h"

#include <level_zero/ze_ddi.h>

// All of the ze tables in one, and the functions that came later.
struct cpu_tables {
    ze_global_dditable_t global;
    ze_driver_dditable_t driver;
    ze_device_dditable_t device;
    ze_device_exp_dditable_t device_exp;
    ze_context_dditable_t context;
    ze_command_queue_dditable_t command_queue;
    ze_command_list_dditable_t command_list;
    ze_image_dditable_t image;
    ze_image_exp_dditable_t image_exp;
    ze_fence_dditable_t fence;
    ze_event_pool_dditable_t event_pool;
    ze_event_dditable_t event;
    ze_event_exp_dditable_t event_exp;
    ze_module_dditable_t module;
    ze_module_build_log_dditable_t module_build_log;
    ze_kernel_dditable_t kernel;
    ze_kernel_exp_dditable_t kernel_exp;
    ze_sampler_dditable_t sampler;
    ze_physical_mem_dditable_t physical_mem;
    ze_mem_dditable_t mem;
    ze_virtual_mem_dditable_t virtual_mem;
    ze_fabric_vertex_exp_dditable_t fabric_vertex_exp;
    ze_fabric_edge_exp_dditable_t fabric_edge_exp;
    struct {
#define IMPLEMENTED(table, member, name, parameters, arguments, required)
#define NEWER(table, minor, name, parameters, arguments, required)                                 \
    ze_result_t(ZE_APICALL *name) parameters;
#include "functions.def"
    } newer;
};

// Four layers, of which each calls the next. The outermost that is needed is handed out:
// calls (calls.c): counting, failing, tracing; only if a switch asks for it
// checked (checked.c): the handles among the arguments
// direct: the functions themselves, cpu_<name>
// idle (idle.c): in place of the direct ones with ZE_CPU_EXECUTE=0
extern const struct cpu_tables cpu_tables_checked;
extern const struct cpu_tables cpu_tables_calls;
extern const struct cpu_tables cpu_tables_idle;

// The tables that the calls layer calls.
const struct cpu_tables *cpu_tables_inner(void);

// Answer UNSUPPORTED_FEATURE: for functions of newer specifications that have no name here, and one
// for each that has.
ze_result_t ZE_APICALL cpu_refused(void);
#define IMPLEMENTED(table, member, name, parameters, arguments, required)
#define REFUSED(table, member, name) ze_result_t ZE_APICALL cpu_refused_##name(void);
#include "functions.def"

#endif
