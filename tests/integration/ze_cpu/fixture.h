// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_TEST_FIXTURE_H
#define ZE_CPU_TEST_FIXTURE_H

#include <level_zero/ze_api.h>
#include <stddef.h>
#include <stdint.h>

// The start of every test: one context on the first device. Everything goes through the loader; any
// failing call ends the test.
struct fixture {
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
};

// Points the loader at the driver under test and initialises it. More variables may be set before.
void fixture_init(struct fixture *fixture);
void fixture_finish(struct fixture *fixture);

// Ends the test unless the result is SUCCESS.
#define MUST(call) fixture_must((call), #call, __FILE__, __LINE__)
void fixture_must(ze_result_t result, const char *call, const char *file, int line);

// A function of a newer specification, by name.
void *fixture_function(const struct fixture *fixture, const char *name);

// The bytes of a .spv file of the tests. Owned by the caller.
uint8_t *fixture_read(const char *name, size_t *out_size_bytes);

// `constants` may be NULL.
ze_module_handle_t fixture_module(const struct fixture *fixture, const char *name,
                                  const ze_module_constants_t *constants);
ze_kernel_handle_t fixture_kernel(ze_module_handle_t module, const char *name);

// 64 bytes aligned, of kind shared.
void *fixture_shared(const struct fixture *fixture, size_t size_bytes);

#define FIXTURE_IN_ORDER 1u
#define FIXTURE_SYNCHRONOUS 2u
#define FIXTURE_INDEX(index) ((index) << 8) // of the compute engine
ze_command_list_handle_t fixture_immediate(const struct fixture *fixture, uint32_t flags);

// `pool_flags` are for the event's own pool, which is given back with it.
struct fixture_event {
    ze_event_pool_handle_t pool;
    ze_event_handle_t event;
};
struct fixture_event fixture_event(const struct fixture *fixture, uint32_t pool_flags);
void fixture_event_finish(struct fixture_event *event);

// The driver's switches in this process (tools/ze_cpu/ze_cpu.h). Set ZE_CPU_FAIL before
// fixture_init, if to nothing, for the ledger of calls.
struct fixture_control {
    int (*set_fail)(const char *);
    uint64_t (*get_count)(const char *);
    void (*reset_counts)(void);
    uint64_t (*get_live_objects)(void);
};
struct fixture_control fixture_control(void);

// zeCommandListHostSynchronize through the driver's own address.
void fixture_synchronize(const struct fixture *fixture, ze_command_list_handle_t list);

#endif
