// SPDX-License-Identifier: MIT
//
// The start of a story of the plugin: ze_cpu as the only driver, the plugin, and one device with a
// context and a queue.
#ifndef ZEPI_TESTS_INTEGRATION_GEAR_FIXTURE_H
#define ZEPI_TESTS_INTEGRATION_GEAR_FIXTURE_H

#include "test_plugin.h"
#include "test_ze_cpu.h"

#include <stddef.h>

extern struct test_gear gear;
extern struct test_ze_cpu ze_cpu;

// .init and .fini of a suite; the queue is in-order, and the latter checks that nothing is left in
// the driver. Variables of the environment are set before.
void gear_set_up(void);
void gear_tear_down(void);
// With a queue of these flags.
void gear_set_up_with(zepi_queue_flags_t queue_flags);

// Zeroed shared memory. zepi.usm_free gives it back.
void *gear_allocate(size_t size_bytes);

#endif
