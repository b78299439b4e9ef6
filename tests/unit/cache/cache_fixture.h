// SPDX-License-Identifier: MIT
//
// Common parts of the tests of cache/: builds that are scripted and counted, payloads that are
// counted while they live, and a hook that makes the n-th allocation or file operation fail.
#ifndef ZEPI_TESTS_CACHE_FIXTURE_H
#define ZEPI_TESTS_CACHE_FIXTURE_H

#include "cache/build_cache.h"
#include "core/sys.h"
#include "tools/zepi/cache/disk_files.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

// One kind of build, the `user` of fixture_run_build. Zero-initialised it succeeds with an empty
// text.
struct fixture_build {
    enum zepi_build_status status;
    enum zepi_build_status early_status; // of the first `early_builds`
    int early_builds;
    int32_t code;     // if it fails
    const char *text; // the payload; NULL: ""
    const char *log;  // NULL: none
    uint64_t cost_bytes;
    unsigned duration_ms;
    void (*inside)(void *user); // called during the build, if set
    void *user;
    // Counted:
    atomic_int builds;
    atomic_int running;
    atomic_int most_running;
};

enum zepi_build_status fixture_run_build(void *user, struct zepi_build_output *output);

// A payload: a text, known to be alive.
const char *fixture_text(const struct zepi_build_result *result);
int fixture_alive(void);     // payloads made and not destroyed
int fixture_destroyed(void); // destructions; the second one of a payload ends the process

// The sealed key of a number. zepi_key_finish() is not needed.
void fixture_key(struct zepi_key *key, uint64_t number);

// Asks for the key of a number. *out_result is released by the caller.
enum zepi_build_lookup fixture_ask(struct zepi_build_cache *cache, uint64_t number,
                                   struct fixture_build *build,
                                   struct zepi_build_result **out_result);
// Where the result of the calling thread's last fixture_ask came from.
enum fixture_origin { FIXTURE_BUILT, FIXTURE_FROM_MEMORY, FIXTURE_FROM_STORE };
enum fixture_origin fixture_origin(void);

// Asks and releases. Returns whether it succeeded.
bool fixture_use(struct zepi_build_cache *cache, uint64_t number, struct fixture_build *build);

// Whether the number's key is in memory. Changes nothing that a test could see but counters and
// use.
bool fixture_has(struct zepi_build_cache *cache, uint64_t number);

// A cache with a budget of its own.
struct fixture_cache {
    struct zepi_build_budget *budget;
    struct zepi_build_cache *cache;
};
struct fixture_cache fixture_cache_create(uint64_t limit_bytes, uint64_t limit_entries,
                                          const struct zepi_build_store *store);
void fixture_cache_destroy(struct fixture_cache *both);
struct zepi_build_counters fixture_counters(struct zepi_build_cache *cache);

// The bytes of an entry of these tests beyond its cost_bytes and log: its key.
uint64_t fixture_key_cost(void);

// A text as a payload.
bool fixture_make_payload(struct zepi_build_output *output, const void *bytes, size_t size);
// A disk as a store of texts.
struct zepi_build_store fixture_disk_store(struct zepi_disk *disk);

// Fails the n-th call (1 is the next) of the calls in `mask` (bit 1 << zepi_sys_call) with
// `error`; with `forever`, all after it, too. 0 fails nothing. Counts from here on.
enum fixture_fault_length { FIXTURE_FAULT_ONCE, FIXTURE_FAULT_FOREVER };
#define FIXTURE_FAULT_ALLOCATIONS (1u << ZEPI_SYS_ALLOCATE)
#define FIXTURE_FAULT_FILES (~FIXTURE_FAULT_ALLOCATIONS)
void fixture_fault(unsigned mask, int n, int error, enum fixture_fault_length length);
// Stops failing. Returns whether a call was made to fail since fixture_fault.
bool fixture_fault_end(void);

#endif
