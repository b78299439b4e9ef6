// SPDX-License-Identifier: MIT
// A model of freed memory: random allocations, uses, frees, trims, releases of pools and reclaims,
// beside queues that wait for the host. New memory must overlap no memory in use, and none that was
// freed while commands that use it are not over, unless the free comes before it in the order of
// commands. After all commands nothing is left.
//   stress.usm_model [SEEDS]
#include "test_plugin.h"
#include "test_ze_cpu.h"
#include "ur/ur.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Draws the plugin out of the archive: test_plugin_load takes it.
extern zepi_plugin_init_fn *const linked_plugin;
zepi_plugin_init_fn *const linked_plugin = zepiPluginInit;

enum { QUEUES = 3, UNORDERED = 2, HELD = 24, SHADOWS = 512, STEPS = 1500, POOLS = 2 };
enum { ANY = QUEUES, NONE };

struct queue {
    zepi_queue_t handle;
    zepi_event_t gate; // NULL: the commands do not wait for the host
    uint64_t command_count;
    uint64_t blocked_from; // the first command that waits for the gate
};

// Memory in use, or a shadow of it: freed, and commands may use it.
struct interval {
    char *start;
    size_t size_bytes;
    uint64_t last_use[QUEUES]; // 1 + the command; 0: none
    bool is_exported;
    zepi_pool_t pool; // that it was allocated from in the order of a queue
    zepi_usm_kind_t kind;
    unsigned
        home; // the queue that alone may use it, since it was allocated in its order; ANY; NONE
    // Of a shadow: the queues whose later commands come after its free.
    bool is_before[QUEUES];
    unsigned queue;     // that it was freed in the order of; ANY
    zepi_event_t event; // of the free; owned; NULL: none
};

static struct test_gear gear;
static struct test_ze_cpu ze_cpu;
static struct queue queues[QUEUES];
static zepi_pool_t pools[POOLS];
static struct interval held[HELD], shadows[SHADOWS];
static unsigned held_count, shadow_count, seed, step;
static uint64_t state, ordered_reuses;

static unsigned draw(unsigned count)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state >> 33) % count;
}

static void give_up(const char *what, const struct interval *new, const struct interval *old)
{
    fprintf(stderr, "seed %u, step %u: %s: %p, %zu bytes, and %p, %zu bytes\n", seed, step, what,
            (void *)new->start, new->size_bytes, (void *)old->start, old->size_bytes);
    exit(1);
}

static bool is_busy(const struct interval *interval)
{
    for (unsigned i = 0; i < QUEUES; i++) {
        if (interval->last_use[i] > queues[i].blocked_from)
            return true;
    }
    return false;
}

static void remove_shadow(unsigned number)
{
    if (shadows[number].event)
        TEST_OK(zepi.release(shadows[number].event));
    shadows[number] = shadows[--shadow_count];
}

static bool overlap(const struct interval *a, const struct interval *b)
{
    return a->start < b->start + b->size_bytes && b->start < a->start + a->size_bytes;
}

// Whether commands of the queue, or those that wait for the event, come after the shadow's free.
static bool comes_after(const struct interval *shadow, unsigned queue, zepi_event_t event)
{
    if (queue < UNORDERED && shadow->is_before[queue])
        return true;
    for (unsigned i = 0; event && i < shadow_count; i++) {
        const struct interval *freed = &shadows[i];
        if (freed->event == event &&
            (freed == shadow || (freed->queue < UNORDERED && shadow->is_before[freed->queue])))
            return true;
    }
    return false;
}

// `queue`: in whose order the memory was allocated, after the free with `event`; ANY: in none.
static void begin(const struct interval *new, unsigned queue, zepi_event_t event)
{
    for (unsigned i = 0; i < held_count; i++) {
        if (overlap(new, &held[i]))
            give_up("memory is given out twice", new, &held[i]);
    }
    for (unsigned i = 0; i < shadow_count; i++) {
        struct interval *shadow = &shadows[i];
        if (!overlap(new, shadow) || !is_busy(shadow))
            continue;
        if (!comes_after(shadow, queue, event))
            give_up("commands that are not over use new memory", new, shadow);
        if (queue < UNORDERED)
            shadow->is_before[queue] = true;
        ordered_reuses++;
    }
    held[held_count++] = *new;
}

static void note_use(struct interval *interval, unsigned queue)
{
    interval->last_use[queue] = ++queues[queue].command_count;
}

// ---- Commands ----

static zepi_wait_list_t gate_of(unsigned queue)
{
    return queues[queue].gate ? (zepi_wait_list_t){&queues[queue].gate, 1} : TEST_NO_WAIT;
}

static void close_gate(unsigned number)
{
    struct queue *queue = &queues[number];
    if (queue->gate)
        return;
    TEST_OK(zepi.event_create(gear.context, &queue->gate));
    queue->blocked_from = queue->command_count;
}

static void open_gate(unsigned number)
{
    struct queue *queue = &queues[number];
    if (!queue->gate)
        return;
    TEST_OK(zepi.event_signal(queue->gate));
    TEST_OK(zepi.release(queue->gate));
    queue->gate = NULL;
    queue->blocked_from = UINT64_MAX;
    // Commands wait for events of other queues, too.
    bool is_any_closed = false;
    for (unsigned i = 0; i < QUEUES; i++)
        is_any_closed = is_any_closed || queues[i].gate;
    if (!is_any_closed && draw(2) == 0)
        TEST_OK(zepi.queue_finish(queue->handle));
}

static void use(void)
{
    static const uint32_t pattern = 7;
    struct interval *interval = &held[draw(held_count)];
    const unsigned queue = interval->home < QUEUES ? interval->home : draw(QUEUES);
    // Each queue has a part of its own, and the out-of-order one uses it once: nothing orders them.
    const size_t part = interval->size_bytes / QUEUES / 4 * 4;
    const size_t bytes = part < 64 ? part : 64;
    if (bytes == 0 || interval->home == NONE ||
        (queue == UNORDERED && interval->last_use[UNORDERED] > 0))
        return;
    TEST_OK(zepi.queue_fill(queues[queue].handle, interval->start + queue * part, &pattern,
                            sizeof(pattern), bytes, gate_of(queue), NULL));
    note_use(interval, queue);
}

// ---- Allocations ----

// Longer ones are dedicated; so is all shared and exported memory.
static size_t draw_size(void)
{
    const unsigned choice = draw(16);
    if (choice == 0)
        return ((size_t)5 << 20) + draw(3) * ((size_t)1 << 19);
    return choice < 4 ? (size_t)1 << (16 + draw(4)) : 1 + draw(3000);
}

static void allocate(void)
{
    const zepi_usm_kind_t kind = (zepi_usm_kind_t)(ZEPI_USM_HOST + draw(3));
    struct interval new = {.size_bytes = draw_size(), .kind = kind, .home = ANY};
    TEST_OK(zepi.usm_allocate(gear.context, kind == ZEPI_USM_HOST ? NULL : gear.device, kind,
                              new.size_bytes, 0, (void **)&new.start));
    begin(&new, ANY, NULL);
}

static void allocate_exported(void)
{
    struct interval new = {
        .size_bytes = draw_size(), .is_exported = true, .kind = ZEPI_USM_DEVICE, .home = ANY};
    if (zepi_urMemoryExportAllocExportableMemoryExp(
            (ur_context_handle_t)gear.context, (ur_device_handle_t)gear.device, 0, new.size_bytes,
            UR_EXP_EXTERNAL_MEM_TYPE_OPAQUE_FD, (void **)&new.start) == UR_RESULT_SUCCESS)
        begin(&new, ANY, NULL);
    else
        exit(1);
}

// In the order of a queue, mostly as memory was that was freed before.
static void allocate_ordered(void)
{
    const struct interval *like =
        shadow_count > 0 && draw(4) > 0 ? &shadows[draw(shadow_count)] : NULL;
    const unsigned pool = draw(POOLS + 1);
    const unsigned queue = like && like->queue < QUEUES && draw(2) ? like->queue : draw(QUEUES);
    zepi_event_t event = like && draw(2) ? like->event : NULL;
    struct interval new = {.size_bytes = like ? like->size_bytes : draw_size(),
                           .pool = pool < POOLS ? pools[pool] : NULL,
                           .kind = like ? like->kind : (zepi_usm_kind_t)(ZEPI_USM_HOST + draw(3)),
                           .home = queue < UNORDERED ? queue
                                   : event           ? NONE
                                                     : ANY};
    // The pool may be gone: then its place is another's.
    for (unsigned i = 0; like && i < POOLS; i++)
        new.pool = like->pool == pools[i] ? pools[i] : new.pool;
    TEST_OK(zepi.queue_allocate(queues[queue].handle, new.pool, new.kind, new.size_bytes, 0,
                                event ? (zepi_wait_list_t){&event, 1} : TEST_NO_WAIT,
                                (void **)&new.start, NULL));
    begin(&new, queue, event);
}

// ---- Frees ----

static void end(unsigned number, const struct interval *shadow)
{
    held[number] = held[--held_count];
    for (unsigned i = shadow_count; i-- > 0;) {
        if (!is_busy(&shadows[i]))
            remove_shadow(i);
    }
    if (shadow_count < SHADOWS)
        shadows[shadow_count++] = *shadow;
    else if (shadow->event)
        TEST_OK(zepi.release(shadow->event));
}

static void free_now(void)
{
    const unsigned number = draw(held_count);
    struct interval shadow = held[number];
    shadow.queue = ANY;
    TEST_OK(zepi.usm_free(gear.context, shadow.start));
    end(number, &shadow);
}

// By the one queue that used the memory, or any. In the out-of-order queue the free comes after its
// wait list, or without one after everything.
static void free_ordered(void)
{
    const unsigned number = draw(held_count);
    struct interval shadow = held[number];
    unsigned users = 0;
    shadow.queue = shadow.home < QUEUES ? shadow.home : draw(QUEUES);
    for (unsigned i = 0; i < QUEUES; i++) {
        if (shadow.last_use[i]) {
            users++;
            shadow.queue = i;
        }
    }
    if (users > 1 || shadow.home == NONE)
        return;
    const bool has_event = draw(2);
    TEST_OK(zepi.queue_free(queues[shadow.queue].handle, shadow.start, TEST_NO_WAIT,
                            has_event ? &shadow.event : NULL));
    shadow.is_before[shadow.queue] = !shadow.is_exported;
    end(number, &shadow);
}

// ---- Pools ----

static void make_pool(unsigned number)
{
    const zepi_pool_desc_t desc = {.size = sizeof(desc), .kept_bytes = (size_t)draw(3) << 23};
    TEST_OK(zepi.pool_create(gear.context, &desc, &pools[number]));
}

static void replace_pool(void)
{
    const unsigned number = draw(POOLS);
    TEST_OK(zepi.release(pools[number]));
    make_pool(number);
}

// After a failure of the driver all pools give back their idle memory.
static void reclaim(void)
{
    void *memory;
    ze_cpu.reset_counts();
    ze_cpu.set_fail("zeMemAllocShared:1:ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY");
    TEST_OK(zepi.usm_allocate(gear.context, gear.device, ZEPI_USM_SHARED, 64, 0, &memory));
    ze_cpu.set_fail("");
    TEST_OK(zepi.usm_free(gear.context, memory));
}

static void take_step(void)
{
    const unsigned choice = draw(100);
    if (choice < 5)
        close_gate(draw(QUEUES));
    else if (choice < 10)
        open_gate(draw(QUEUES));
    else if (choice < 12)
        TEST_OK(zepi.pool_trim(pools[draw(POOLS)], (size_t)draw(3) << 22));
    else if (choice < 13)
        replace_pool();
    else if (choice < 14)
        reclaim();
    else if (held_count < HELD && choice < 29)
        allocate();
    else if (held_count < HELD && choice < 32)
        allocate_exported();
    else if (held_count < HELD && choice < 50)
        allocate_ordered();
    else if (held_count > 0 && choice < 70)
        use();
    else if (held_count > 0 && choice < 85)
        free_now();
    else if (held_count > 0)
        free_ordered();
}

// Nothing is in use after all: the pools give everything back.
static void expect_no_memory_left(zepi_pool_t pool)
{
    zepi_pool_info_t info = {.size = sizeof(info)};
    TEST_OK(zepi.pool_trim(pool, 0));
    TEST_OK(zepi.pool_get_info(pool, &info));
    if (info.used_bytes == 0 && info.reserved_bytes == 0)
        return;
    fprintf(stderr, "seed %u: the pool has %zu bytes in use, %zu of the driver's\n", seed,
            info.used_bytes, info.reserved_bytes);
    exit(1);
}

static void run(void)
{
    state = seed;
    for (unsigned i = 0; i < QUEUES; i++) {
        queues[i] = (struct queue){.blocked_from = UINT64_MAX};
        TEST_OK(zepi.queue_create(gear.context, gear.device,
                                  i == UNORDERED ? 0 : ZEPI_QUEUE_IN_ORDER, &queues[i].handle));
    }
    for (unsigned i = 0; i < POOLS; i++)
        make_pool(i);
    for (step = 0; step < STEPS; step++)
        take_step();
    for (unsigned i = 0; i < QUEUES; i++)
        open_gate(i);
    while (held_count > 0)
        free_now();
    while (shadow_count > 0)
        remove_shadow(shadow_count - 1);
    for (unsigned i = 0; i < QUEUES; i++)
        TEST_OK(zepi.queue_finish(queues[i].handle));
    // A finish waits for the host's commands; a release also for probes of a poll behind them, for
    // which freed memory waits.
    for (unsigned i = 0; i < QUEUES; i++)
        TEST_OK(zepi.release(queues[i].handle));
    for (unsigned i = 0; i < POOLS; i++) {
        expect_no_memory_left(pools[i]);
        TEST_OK(zepi.release(pools[i]));
    }
}

int main(int argc, char **argv)
{
    const unsigned seeds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 12;
    ze_cpu = test_ze_cpu_use();
    test_plugin_load();
    gear = test_gear_create(ZEPI_QUEUE_IN_ORDER);
    for (seed = 1; seed <= seeds; seed++)
        run();
    printf("%u seeds, %llu times memory was used again before its commands were over\n", seeds,
           (unsigned long long)ordered_reuses);
    if (ordered_reuses == 0)
        return 1;
    test_gear_destroy(&gear);
    return 0;
}
