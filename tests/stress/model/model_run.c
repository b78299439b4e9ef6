// SPDX-License-Identifier: MIT
// Rounds: a world of shared objects, and threads that do random operations; and what watches over
// them.
#include "model.h"

#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PHASES = 12, HANG_SECONDS = 20, PATIENCE_SECONDS = 3 };
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SLOWER = 6 };
#else
enum { SLOWER = 1 };
#endif

struct world world;
static atomic_bool is_over;
static const char *again; // how this process is run again
_Thread_local struct worker *self;

uint64_t model_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint32_t draw(uint32_t below)
{
    self->state = self->state * 1664525 + 1013904223;
    return (uint32_t)(((uint64_t)(self->state ^ self->state >> 15) * below) >> 32);
}

// ---- Ends ----

static void print_place(void)
{
    fprintf(stderr, "model: in the round of seed %u, after %llu operations\n",
            atomic_load(&world.round_seed), (unsigned long long)atomic_load(&world.operations));
    for (unsigned i = 0; i < WORKERS; i++) {
        const struct worker *worker = &world.workers[i];
        const uint64_t since = atomic_load(&worker->since_ns);
        const char *operation = atomic_load(&worker->operation);
        if (since != 0 && operation)
            fprintf(stderr, "model: thread %u%s: %s, for %.3f s%s\n", i,
                    worker == self ? " (this one)" : "", operation,
                    (double)(model_now_ns() - since) / 1e9,
                    worker->is_gate_closed ? ", its gate is closed" : "");
    }
    fprintf(stderr, "model: again: MODEL_SEED=%u %s\n", atomic_load(&world.round_seed), again);
}

// A failed call ends the process by exit(); other threads go on, so handlers of libraries must not
// run.
static void at_exit(int status, void *unused)
{
    (void)unused;
    if (status == 0 || atomic_load(&is_over))
        return;
    print_place();
    fflush(NULL);
    _exit(status);
}

void model_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("model: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    print_place();
    _exit(1);
}

// NOLINTBEGIN(bugprone-signal-handler,cert-sig30-c): the process ends, and says what it can
static void print_stack(int number)
{
    void *frames[40];
    (void)number;
    backtrace_symbols_fd(frames, backtrace(frames, 40), STDERR_FILENO);
}

static void on_signal(int number)
{
    fprintf(stderr, "model: signal %d\n", number);
    print_place();
    print_stack(number);
    _exit(1);
}
// NOLINTEND(bugprone-signal-handler,cert-sig30-c)

// ---- The watchdog ----

static void end_if_it_hangs(struct worker *worker)
{
    const uint64_t since = atomic_load(&worker->since_ns);
    if (world.frees_wait && since != 0 &&
        model_now_ns() > since + (uint64_t)PATIENCE_SECONDS * 1000000000u)
        gate_open_of(worker);
    if (since == 0 || model_now_ns() < since + (uint64_t)HANG_SECONDS * SLOWER * 1000000000u)
        return;
    fprintf(stderr, "model: thread %u hangs\n", worker->number);
    for (unsigned i = 0; i < WORKERS; i++) {
        if (atomic_load(&world.workers[i].since_ns) == 0)
            continue;
        fprintf(stderr, "model: thread %u:\n", i);
        pthread_kill((pthread_t)world.workers[i].id, SIGRTMIN + 3);
        usleep(200000);
    }
    print_place();
    _exit(1);
}

static void *watch(void *unused)
{
    (void)unused;
    while (!atomic_load(&is_over)) {
        usleep(50000);
        for (unsigned i = 0; i < WORKERS; i++)
            end_if_it_hangs(&world.workers[i]);
    }
    return NULL;
}

static void watch_signals(void)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
    void *frames[1];
    backtrace(frames, 1); // loads what it needs
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]) && SLOWER == 1; i++)
        signal(numbers[i], on_signal);
    signal(SIGRTMIN + 3, print_stack);
}

// ---- Operations ----

static const struct operation *const tables[] = {memory_operations, launch_operations,
                                                 graph_operations, order_operations};
enum { TABLES = sizeof(tables) / sizeof(tables[0]) };

// MODEL_WITHOUT=NAME,NAME... leaves operations out, to see which of them a failure needs.
static bool is_left_out(const struct operation *operation)
{
    const size_t length = strlen(operation->name);
    const char *at = getenv("MODEL_WITHOUT");
    while (at && *at) {
        const size_t part = strcspn(at, ",");
        if (part == length && memcmp(at, operation->name, part) == 0)
            return true;
        at += at[part] == ',' ? part + 1 : part;
    }
    return false;
}

// The operations of a round: all, about half of them, or a few, which then meet often.
struct chosen {
    const struct operation *operation;
    unsigned weight;
};
static struct chosen chosen[64];
static unsigned chosen_count, chosen_weights;

static void choose_operations(void)
{
    enum { ALL, HALF, FEW, MIXTURES };
    const uint32_t mixture = draw(MIXTURES);
    chosen_count = chosen_weights = 0;
    for (size_t table = 0; table < TABLES; table++) {
        for (const struct operation *i = tables[table]; i->run; i++) {
            const bool is_chosen = mixture == ALL || one_in(mixture == HALF ? 2 : 6);
            if (!is_chosen || is_left_out(i))
                continue;
            chosen[chosen_count] = (struct chosen){i, mixture == FEW ? 1 : i->weight};
            chosen_weights += chosen[chosen_count++].weight;
        }
    }
}

static const struct operation *draw_operation(void)
{
    unsigned left = draw(chosen_weights);
    unsigned i = 0;
    while (left >= chosen[i].weight)
        left -= chosen[i++].weight;
    return chosen[i].operation;
}

static void note(const char *operation)
{
    atomic_store(&self->operation, operation);
    atomic_store(&self->since_ns, model_now_ns());
}

static void run_phase(void)
{
    const unsigned count = 4 + draw(56);
    const unsigned opens = draw(count);
    note("begin of a phase");
    phase_begin();
    for (unsigned i = 0; i < count && chosen_count > 0; i++) {
        const struct operation *operation = draw_operation();
        if (i == opens) {
            note("opening of the gate");
            gate_open();
        }
        if (operation->may_wait && self->is_gate_closed)
            continue;
        note(operation->name);
        operation->run();
    }
    note("end of a phase");
    phase_end();
    note("renewal of memory");
    places_renew();
}

static void *work(void *user)
{
    self = user;
    self->id = (unsigned long)pthread_self();
    note("making of memory");
    places_make();
    for (unsigned i = 0; i < PHASES; i++)
        run_phase();
    phase_end();
    note("end of a round");
    graphs_release();
    places_free();
    atomic_store(&self->since_ns, 0);
    return NULL;
}

// ---- Rounds ----

static void make_queue(struct queue *queue, unsigned device, unsigned kind)
{
    *queue = (struct queue){front_end.make_queue(device, kind), device,
                            (kind & QUEUE_IN_ORDER) != 0, (kind & QUEUE_TIMED) != 0};
}

// Each device has a queue of both orders without times.
static void make_world(void)
{
    static const unsigned kinds[SHARED_QUEUES] = {
        QUEUE_IN_ORDER, QUEUE_IN_ORDER, 0, 0, QUEUE_IN_ORDER | QUEUE_TIMED, QUEUE_TIMED};
    const size_t words = (size_t)WORKERS * PLACES * WORDS;
    for (unsigned i = 0; i < SHARED_QUEUES; i++)
        make_queue(&world.queues[i], i % 2 ? world.devices - 1 : 0, kinds[i]);
    for (unsigned i = 0; i < KERNELS; i++) {
        world.kernels[i][0] = front_end.make_kernel((enum kernel)i, 1, false);
        world.kernels[i][1] = front_end.make_kernel((enum kernel)i, 2, false);
    }
    if (front_end.part) {
        world.buffer_memory = calloc(words, sizeof(uint32_t));
        world.buffers[0] = front_end.make_buffer(words, NULL);
        world.buffers[1] = front_end.make_buffer(words, world.buffer_memory);
    }
}

static void release_world(void)
{
    front_end.release_graph(world.graph);
    for (unsigned i = 0; i < SHARED_QUEUES; i++)
        front_end.release_queue(world.queues[i].handle);
    for (unsigned i = 0; i < KERNELS; i++) {
        front_end.release_kernel(world.kernels[i][0]);
        front_end.release_kernel(world.kernels[i][1]);
    }
    for (unsigned i = 0; i < 2 && front_end.part; i++)
        front_end.release_buffer(world.buffers[i]);
    free(world.buffer_memory);
    world.buffer_memory = NULL;
}

static void make_worker(unsigned number, uint32_t seed)
{
    struct worker *worker = &world.workers[number];
    memset(worker, 0, offsetof(struct worker, operation)); // the watchdog looks at the rest
    worker->number = number;
    worker->state = seed * 2654435761u + number;
    self = worker;
    draw(1);
    make_queue(&worker->own, draw(world.devices), draw(4));
    worker->look_place = (struct place){.kind = MEMORY_HOST};
    worker->look_place.memory = worker->look_memory = front_end.make_host(LOOKS * WORDS);
    worker->slot.words = front_end.make_host(SLOT_WORDS);
}

static void release_worker(struct worker *worker)
{
    latches_release(worker);
    front_end.release_queue(worker->own.handle);
    front_end.free_host(worker->look_memory);
    front_end.free_host(worker->slot.words);
}

static void run_round(uint32_t seed)
{
    pthread_t threads[WORKERS];
    atomic_store(&world.round_seed, seed);
    make_world();
    for (unsigned i = 0; i < WORKERS; i++)
        make_worker(i, seed);
    shared_graph_make();
    choose_operations();
    for (unsigned i = 0; i < WORKERS; i++) {
        if (pthread_create(&threads[i], NULL, work, &world.workers[i]) != 0)
            model_fail("no thread");
    }
    for (unsigned i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    self = &world.workers[0];
    note("end of the world");
    for (unsigned i = 0; i < WORKERS; i++)
        release_worker(&world.workers[i]);
    release_world();
    atomic_store(&self->since_ns, 0);
}

unsigned model_run(uint32_t seed, double seconds, bool repeat, const char *command)
{
    const uint64_t end = model_now_ns() + (uint64_t)(seconds * 1e9);
    pthread_t watcher;
    unsigned rounds = 0;
    again = command;
    on_exit(at_exit, NULL);
    watch_signals();
    if (pthread_create(&watcher, NULL, watch, NULL) != 0)
        model_fail("no thread");
    world.devices = front_end.set_up();
    watch_signals(); // the OpenCL runtime has handlers, too
    do {
        run_round(repeat ? seed : seed + rounds);
        rounds++;
    } while (model_now_ns() < end);
    front_end.tear_down();
    atomic_store(&is_over, true);
    pthread_join(watcher, NULL);
    return rounds;
}
