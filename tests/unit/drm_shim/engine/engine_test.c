// SPDX-License-Identifier: MIT
#include "engine/engine.h"

#include "control.h"
#include "gpu_clock.h"
#include "gpu_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdatomic.h>
#include <time.h>

#define FENCE 0x8000u
#define FLAG 0x8100u
#define RESULT 0x8200u
#define LONG_NS INT64_C(5000000000)

static struct gpu gpu;

static void set_up(void)
{
    gpu = gpu_create();
}

static void tear_down(void)
{
    gpu_destroy(&gpu);
}

TestSuite(engine, .init = set_up, .fini = tear_down, .timeout = 30);

static uint32_t value_at(uint32_t offset)
{
    return __atomic_load_n(gpu_word(&gpu, offset), __ATOMIC_ACQUIRE);
}

static bool comes(uint32_t offset, uint32_t value)
{
    const int64_t end_ns = shim_now_ns() + LONG_NS;
    while (value_at(offset) != value && shim_now_ns() < end_ns)
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    return value_at(offset) == value;
}

static bool is_lost_soon(struct shim_engine *engine)
{
    const int64_t end_ns = shim_now_ns() + LONG_NS;
    while (!shim_engine_is_lost(engine) && shim_now_ns() < end_ns)
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    return shim_engine_is_lost(engine);
}

static void submit(struct shim_engine *engine, const struct batch *batch, uint32_t fence)
{
    const struct shim_job job = {
        .batch = batch->address, .fence_address = gpu_address(FENCE), .fence_value = fence};
    cr_assert_eq(shim_engine_submit(engine, &job), 0);
}

Test(engine, runs_batches_in_order_and_writes_their_fences)
{
    struct shim_engine *engine = shim_engine_create(gpu.space, shim_product_at(0), 1);
    struct batch batches[40];
    for (uint32_t i = 0; i < 40; i++) {
        batches[i] = batch_at(&gpu, i * 256);
        batch_wait(&batches[i], gpu_address(RESULT), i); // the result of the batch before
        batch_store(&batches[i], gpu_address(RESULT), i + 1);
        batch_end(&batches[i]);
        submit(engine, &batches[i], i + 1);
    }
    cr_assert(comes(FENCE, 40));
    cr_assert_eq(value_at(RESULT), 40);
    shim_engine_destroy(engine);
}

Test(engine, says_which_jobs_have_ended)
{
    struct shim_engine *engine = shim_engine_create(gpu.space, shim_product_at(0), 1);
    struct batch batch = batch_at(&gpu, 0);
    batch_wait(&batch, gpu_address(FLAG), 1);
    batch_end(&batch);
    const struct shim_job first = {.batch = batch.address, .number = 5};
    const struct shim_job second = {
        .fence_address = gpu_address(FENCE), .fence_value = 1, .number = 7};
    cr_assert(shim_engine_has_ended(engine, 5));
    cr_assert_eq(shim_engine_submit(engine, &first), 0);
    cr_assert_eq(shim_engine_submit(engine, &second), 0);
    cr_assert(shim_engine_has_ended(engine, 4));
    cr_assert(!shim_engine_has_ended(engine, 5) && !shim_engine_has_ended(engine, 7));
    __atomic_store_n(gpu_word(&gpu, FLAG), 1, __ATOMIC_RELEASE);
    cr_assert(comes(FENCE, 1));
    cr_assert(shim_engine_has_ended(engine, 5));
    shim_engine_destroy(engine);
}

Test(engine, that_waits_for_another_does_not_stop_it)
{
    struct shim_engine *first = shim_engine_create(gpu.space, shim_product_at(0), 1);
    struct shim_engine *second = shim_engine_create(gpu.space, shim_product_at(0), 2);
    struct batch waits = batch_at(&gpu, 0), signals = batch_at(&gpu, 256);
    batch_wait(&waits, gpu_address(FLAG), 1);
    batch_store(&waits, gpu_address(RESULT), 1);
    batch_end(&waits);
    batch_store(&signals, gpu_address(FLAG), 1);
    batch_end(&signals);
    submit(first, &waits, 1);
    submit(second, &signals, 1);
    cr_assert(comes(RESULT, 1));
    shim_engine_destroy(first);
    shim_engine_destroy(second);
}

Test(engine, sees_what_the_program_writes)
{
    struct shim_engine *engine = shim_engine_create(gpu.space, shim_product_at(0), 1);
    struct batch batch = batch_at(&gpu, 0);
    batch_wait(&batch, gpu_address(FLAG), 1);
    batch_end(&batch);
    submit(engine, &batch, 1);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL); // it sleeps by now
    cr_assert_eq(value_at(FENCE), 0);
    __atomic_store_n(gpu_word(&gpu, FLAG), 1, __ATOMIC_RELEASE);
    cr_assert(comes(FENCE, 1));
    shim_engine_destroy(engine);
}

Test(engine, is_destroyed_at_once_while_it_waits)
{
    struct shim_engine *engine = shim_engine_create(gpu.space, shim_product_at(0), 1);
    struct batch batch = batch_at(&gpu, 0);
    batch_wait(&batch, gpu_address(FLAG), 1);
    batch_end(&batch);
    submit(engine, &batch, 1);
    submit(engine, &batch, 2);
    const int64_t start_ns = shim_now_ns();
    shim_engine_destroy(engine);
    cr_assert_lt(shim_now_ns() - start_ns, 1900000000); // it waits two seconds for a kernel
    cr_assert_eq(value_at(FENCE), 0);
}

Test(engine, settles_when_its_jobs_are_done_or_wait_for_the_program)
{
    struct shim_engine *engine = shim_engine_create(gpu.space, shim_product_at(0), 1);
    struct batch waits = batch_at(&gpu, 0), stores = batch_at(&gpu, 256);
    shim_engines_settle(LONG_NS); // at once: there are no jobs
    for (uint32_t i = 0; i < 100; i++)
        batch_store(&stores, gpu_address(RESULT), i);
    batch_end(&stores);
    for (uint32_t i = 1; i <= 50; i++)
        submit(engine, &stores, i);
    shim_engines_settle(LONG_NS);
    cr_assert_eq(value_at(FENCE), 50);
    batch_wait(&waits, gpu_address(FLAG), 1);
    batch_end(&waits);
    submit(engine, &waits, 51);
    shim_engines_settle(INT64_MAX / 2); // else the suite's timeout ends this test
    cr_assert_eq(value_at(FENCE), 50);
    __atomic_store_n(gpu_word(&gpu, FLAG), 1, __ATOMIC_RELEASE);
    cr_assert(comes(FENCE, 51));
    shim_engine_destroy(engine);
}

Test(engine, is_lost_when_a_kernel_hangs)
{
    cr_assert(drm_shim_set_faults("kernel:2:hang"));
    struct shim_engine *engine = shim_engine_create(gpu.space, shim_product_at(0), 1);
    struct shim_engine *other = shim_engine_create(gpu.space, shim_product_at(0), 2);
    struct batch batch = batch_at(&gpu, 0);
    batch_walker(&batch, gpu_address(RESULT), 1);
    batch_end(&batch);
    submit(engine, &batch, 1);
    cr_assert(comes(FENCE, 1));
    cr_assert_not(shim_engine_is_lost(engine));
    submit(engine, &batch, 2);
    cr_assert(is_lost_soon(engine));
    cr_assert_eq(value_at(FENCE), 1);
    const struct shim_job job = {.batch = batch.address};
    cr_assert_eq(shim_engine_submit(engine, &job), ECANCELED);
    submit(other, &batch, 3);
    cr_assert(comes(FENCE, 3));
    shim_engine_destroy(engine);
    shim_engine_destroy(other);
}

Test(engine, is_lost_by_a_command_that_is_not_known)
{
    struct shim_engine *engine = shim_engine_create(gpu.space, shim_product_at(0), 1);
    struct batch batch = batch_at(&gpu, 0);
    const struct shim_mi_head unknown = {.opcode = 0x3f};
    BATCH_COMMAND(&batch, unknown);
    BATCH(&batch, 0, 0);
    batch_end(&batch);
    submit(engine, &batch, 1);
    cr_assert(is_lost_soon(engine));
    cr_assert_eq(value_at(FENCE), 0);
    cr_assert_eq(drm_shim_errors(), 1);
    shim_engine_destroy(engine);
}

static _Atomic bool is_let_go;

static bool wait_for_the_program(struct shim_address_space *space, const struct shim_walker *walker)
{
    (void)space;
    while (walker->groups[0] == 3 && !atomic_load(&is_let_go))
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    return true;
}

Test(engine, whose_kernel_waits_for_the_program_stops_no_other)
{
    gpu_kernel = wait_for_the_program;
    struct shim_engine *engine = shim_engine_create(gpu.space, shim_product_at(0), 1);
    struct shim_engine *other = shim_engine_create(gpu.space, shim_product_at(0), 2);
    struct batch waits = batch_at(&gpu, 0), ends = batch_at(&gpu, 256);
    batch_walker(&waits, gpu_address(RESULT), 1);
    batch_end(&waits);
    batch_walker(&ends, gpu_address(RESULT + 8), 2);
    ends.words[7] = 1; // one group: a kernel that does not wait
    batch_end(&ends);
    submit(engine, &waits, 1);
    submit(other, &ends, 2);
    cr_assert(comes(FENCE, 2));
    cr_assert_eq(value_at(RESULT), 0);
    shim_engines_settle(1000000); // its kernel runs on; the wait ends all the same
    cr_assert_eq(value_at(RESULT), 0);
    atomic_store(&is_let_go, true);
    shim_engines_settle(LONG_NS);
    cr_assert_eq(value_at(FENCE), 1);
    shim_engine_destroy(engine);
    shim_engine_destroy(other);
}
