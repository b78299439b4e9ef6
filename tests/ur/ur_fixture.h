// SPDX-License-Identifier: MIT
//
// The adapter as a loader of Unified Runtime sees it: libur_adapter_zepi.so of the build folder,
// opened with dlopen, its tables fetched by their getters' names. Tests call functions by the names
// of UR's header; ur_slots.h, which CMake writes from that header, makes them slots of the tables.
#ifndef ZEPI_TESTS_UR_UR_FIXTURE_H
#define ZEPI_TESTS_UR_UR_FIXTURE_H

#include "test_ze_cpu.h"

// ur_api.h needs bool.
#include <stdbool.h>
#include <stddef.h>
#include <unified-runtime/ur_api.h>
#include <unified-runtime/ur_ddi.h>

#include "ur_slots.h"

#define UR_TEST_DEVICES 4

// Every table, from ur_load() to ur_unload().
extern ur_dditable_t ur;
// The driver below, from ur_set_up() on.
extern struct test_ze_cpu ze_cpu;

extern struct ur_gear {
    ur_adapter_handle_t adapter;
    ur_platform_handle_t platform;
    ur_device_handle_t devices[UR_TEST_DEVICES]; // those from device_count on are NULL
    uint32_t device_count;
    ur_device_handle_t device;   // the first one
    ur_context_handle_t context; // of all devices
    ur_queue_handle_t queue;     // of the first device: in order, with profiling
} gear;

// Opens the adapter and fetches the tables; the driver was chosen before. Ends the process with a
// message where that fails.
void ur_load(void);
void ur_load_device(void); // and finds the first device
// Everything was released.
void ur_unload(void);

// ze_cpu with so many devices, the adapter and its gear. To be called by a suite's .init, after it
// set the environment.
void ur_set_up_devices(uint32_t device_count);
void ur_set_up(void); // one
void ur_set_up_two(void);
// Releases the gear and unloads; checks that nothing is left in the driver.
void ur_tear_down(void);

// A queue of the gear's context with these flags.
ur_queue_handle_t ur_queue(ur_device_handle_t device, ur_queue_flags_t flags);

// A time of a complete event; CLOCK_MONOTONIC. Both in nanoseconds.
uint64_t ur_time_of(ur_event_handle_t event, ur_profiling_info_t query);
uint64_t ur_now_ns(void);

// A program of tests/data/NAME.cl's SPIR-V in the gear's context; the same one, built; one of its
// kernels.
ur_program_handle_t ur_input(const char *name);
ur_program_handle_t ur_executable(const char *name);
ur_kernel_handle_t ur_kernel(const char *program, const char *kernel);
// Of SPIR-V that lies elsewhere.
ur_program_handle_t ur_input_file(const char *path);

// USM of the gear's context and first device. Shared memory is zeroed.
void *ur_shared(size_t size_bytes);
void *ur_device_memory(size_t size_bytes);
void ur_free(void *memory);

// Arguments of a launch.
#define UR_POINTER(at, memory)                                                                     \
    ((ur_exp_kernel_arg_properties_t){.stype = UR_STRUCTURE_TYPE_EXP_KERNEL_ARG_PROPERTIES,        \
                                      .type = UR_EXP_KERNEL_ARG_TYPE_POINTER,                      \
                                      .index = (at),                                               \
                                      .size = sizeof(void *),                                      \
                                      .value.pointer = (memory)})
#define UR_VALUE(at, variable)                                                                     \
    ((ur_exp_kernel_arg_properties_t){.stype = UR_STRUCTURE_TYPE_EXP_KERNEL_ARG_PROPERTIES,        \
                                      .type = UR_EXP_KERNEL_ARG_TYPE_VALUE,                        \
                                      .index = (at),                                               \
                                      .size = sizeof(variable),                                    \
                                      .value.value = &(variable)})
#define UR_LOCAL(at, bytes)                                                                        \
    ((ur_exp_kernel_arg_properties_t){.stype = UR_STRUCTURE_TYPE_EXP_KERNEL_ARG_PROPERTIES,        \
                                      .type = UR_EXP_KERNEL_ARG_TYPE_LOCAL,                        \
                                      .index = (at),                                               \
                                      .size = (bytes)})
#define UR_MEM(at, mem)                                                                            \
    ((ur_exp_kernel_arg_properties_t){.stype = UR_STRUCTURE_TYPE_EXP_KERNEL_ARG_PROPERTIES,        \
                                      .type = UR_EXP_KERNEL_ARG_TYPE_MEM_OBJ,                      \
                                      .index = (at),                                               \
                                      .size = sizeof(void *),                                      \
                                      .value.memObjTuple = {(mem), UR_MEM_FLAG_READ_WRITE}})
#define UR_SAMPLER(at, handle)                                                                     \
    ((ur_exp_kernel_arg_properties_t){.stype = UR_STRUCTURE_TYPE_EXP_KERNEL_ARG_PROPERTIES,        \
                                      .type = UR_EXP_KERNEL_ARG_TYPE_SAMPLER,                      \
                                      .index = (at),                                               \
                                      .size = sizeof(void *),                                      \
                                      .value.sampler = (handle)})

// A launch of one dimension whose group size the driver chooses. `out_event` may be NULL.
ur_result_t ur_launch(ur_queue_handle_t queue, ur_kernel_handle_t kernel, size_t global_size,
                      uint32_t argument_count, const ur_exp_kernel_arg_properties_t *arguments,
                      uint32_t wait_count, const ur_event_handle_t *wait_list,
                      ur_event_handle_t *out_event);

// A launch of tests/data/spin.cl's kernel, which takes a while, and its event.
ur_event_handle_t ur_spin(ur_queue_handle_t queue, ur_kernel_handle_t kernel, uint32_t rounds,
                          uint32_t *out);

ur_event_status_t ur_event_status(ur_event_handle_t event);

// That the event is not complete, after a while in which it could have become so.
#define ur_expect_held_up(event) ur_expect_held_up_at(event, __FILE__, __LINE__)
void ur_expect_held_up_at(ur_event_handle_t event, const char *file, int line);

// An event of the host's own, made with Level Zero: complete once the host signals it.
struct host_event {
    void *pool;              // ze_event_pool_handle_t
    void *ze;                // ze_event_handle_t
    ur_event_handle_t event; // around it, in its context
};
struct host_event host_event_make(void); // of the gear's context
struct host_event host_event_make_in(ur_context_handle_t ur_context);
void host_event_signal(const struct host_event *host);
// No command uses it any more.
void host_event_release(const struct host_event *host);

// The sentence of this thread's last failure.
const char *ur_last_error(void);

// Ends the process with the call and its error text unless the result is the one expected.
#define UR_OK(call) UR_FAILS(call, UR_RESULT_SUCCESS)
#define UR_FAILS(call, result) ur_expect_result(call, result, #call, #result, __FILE__, __LINE__)
// The same, and the error text must contain the words.
#define UR_FAILS_SAYING(call, result, words)                                                       \
    (UR_FAILS(call, result), ur_expect_text(words, #call, __FILE__, __LINE__))

void ur_expect_result(ur_result_t result, ur_result_t expected, const char *call,
                      const char *expected_name, const char *file, int line);
void ur_expect_text(const char *words, const char *call, const char *file, int line);

#endif
