// SPDX-License-Identifier: MIT
//
// A model test of what is remembered. Several threads do random operations through one interface,
// zepi.h or Unified Runtime's tables, and each compares its memory with a model that does one
// operation after the other. Threads have memory of their own, and share queues, kernels, modules,
// buffers, a graph and pools.
//
// An operation is one function and one row of a table (`struct operation`). It draws its memory
// (`place`) and its queue, and begins a step: the step waits for those before it that touch the
// same memory, and for no others, unless they come first anyway. The order of the driver is left
// as free as that. In some phases the thread's gate is closed: an event of the host's that commands
// on some of its memory wait for. The thread then does what never waits for the host, so that it
// comes to open the gate, whatever other threads do.
#ifndef ZEPI_TESTS_STRESS_MODEL_H
#define ZEPI_TESTS_STRESS_MODEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum {
    WORKERS = 3,
    SHARED_QUEUES = 6,
    OWN_QUEUE = SHARED_QUEUES, // of each thread
    QUEUES,
    STEPS = 60,       // of a phase, before it has to end
    LOOKS = 16,       // one at each place, at least
    WORDS = 1024,     // of each place
    SLOT_WORDS = 128, // of each thread in what the shared graph writes
    GRAPH_COMMANDS = 6,
};

// ---- The interface under test ----

enum memory_kind {
    MEMORY_PLAIN, // of malloc
    MEMORY_HOST,
    MEMORY_SHARED,
    MEMORY_DEVICE,
    MEMORY_REGISTERED,  // plain, and USM while it is registered
    MEMORY_IMPORTED,    // plain, and known to the driver for copies
    MEMORY_ORDERED,     // allocated and freed in the order of a queue
    MEMORY_PART,        // of the buffer that all threads have parts of
    MEMORY_BUFFER,      // a buffer of the thread's own
    MEMORY_HOST_BUFFER, // the same around plain memory
};

// Memory of one thread, and what it holds.
struct place {
    enum memory_kind kind;
    unsigned device; // whose commands reach it, if it is not any device's
    char *memory;    // NULL for buffers
    void *buffer;
    char *plain; // owned: what is registered, imported or around which the buffer is
    uint32_t model[WORDS];
};

struct range {
    struct place *place;
    size_t word; // the first one
};

// What a command waits for.
struct waits {
    uint32_t count;
    void *events[STEPS + 4];
};

enum kernel { KERNEL_BLEND, KERNEL_STAMP, KERNEL_SCALE, KERNELS };

// out[i] = 3 * a[i] + 5 * b[i] + value (blend), value + i (stamp) or a[i] * value (scale); with
// `marks` also what the kernel sees of its sizes.
struct launch {
    enum kernel kernel;
    uint32_t value;
    struct range a, b, out;
    bool marks;
    uint32_t dimensions;
    size_t global[2], group[2], offset[2]; // group zeros: the driver's choice
};

enum queue_kind { QUEUE_IN_ORDER = 1, QUEUE_TIMED = 2 };

// Handles are the interface's. A call that fails ends the process with a message. A function that
// is NULL is not in the interface.
struct front_end {
    const char *name;
    // Platform, devices, a context of all of them and another one of the last device.
    unsigned (*set_up)(void); // the number of devices
    void (*tear_down)(void);

    bool (*make)(struct place *place); // with `plain`, if its kind has it; false: not possible here
    void (*free)(struct place *place); // commands may still use it, unless it has `plain`
    void *(*make_host)(size_t words);  // of the host's kind
    void (*free_host)(void *memory);
    void *(*make_buffer)(size_t words, char *plain);
    void (*part)(void *buffer, size_t word, struct place *place);
    void (*release_buffer)(void *buffer);
    void *(*allocate_ordered)(void *queue, const struct waits *waits, void **out_event);
    void (*free_ordered)(void *queue, void *memory, const struct waits *waits, void **out_event);
    void (*trim_pool)(void);

    void *(*make_queue)(unsigned device, unsigned kind);
    void (*release_queue)(void *queue);
    void (*finish)(void *queue);
    void (*wait_for_device)(unsigned device);

    void *(*make_gate)(bool is_other); // of the other context
    void (*open_gate)(void *gate);
    void (*release_gate)(void *gate);
    void *(*event_of_gate)(void *gate); // borrowed
    void (*release_event)(void *event);
    void (*retain_event)(void *event);
    void (*wait)(uint32_t count, void **events);
    bool (*is_complete)(void *event);

    // Commands; out_event may be NULL.
    void (*copy)(void *queue, const struct range *to, const struct range *from, size_t words,
                 const struct waits *waits, void **out_event);
    bool copies_buffers; // and fills them
    void (*copy_rows)(void *queue, const struct range *to, size_t to_pitch,
                      const struct range *from, size_t from_pitch, size_t width, size_t rows,
                      const struct waits *waits, void **out_event);
    void (*fill)(void *queue, const struct range *to, uint32_t value, size_t words,
                 const struct waits *waits, void **out_event);
    void (*launch)(void *queue, void *kernel, const struct launch *launch,
                   const struct waits *waits, void **out_event);
    // The launch's value is the kernel's specialization constant.
    void (*launch_by_name)(void *queue, const struct launch *launch, const struct waits *waits,
                           void **out_event);
    void (*barrier)(void *queue, const struct waits *waits, void **out_event);
    void (*marker)(void *queue, const struct waits *waits, void **out_event);
    bool (*has_host_functions)(void);
    void (*call_host)(void *queue, void (*function)(void *), void *data, const struct waits *waits,
                      void **out_event);
    void *(*map)(void *queue, const struct range *range, size_t words); // waits for it
    void (*unmap)(void *queue, const struct range *range, void *mapped);

    // `value`: of KERNEL_SCALE's constant. `is_new`: of a module made for it.
    void *(*make_kernel)(enum kernel kernel, uint32_t value, bool is_new);
    void (*release_kernel)(void *kernel);
    size_t (*suggest_group)(void *kernel, unsigned device, size_t global);
    void (*ask_cooperative)(void *kernel, unsigned device, size_t group);
    void (*forget_modules)(bool all);

    void *(*make_graph)(bool is_updatable, bool is_in_order);
    void (*release_graph)(void *graph); // waits for its executions
    // `points`: of earlier commands. *out_command: for updates; NULL if the graph has none.
    uint32_t (*add_launch)(void *graph, void *kernel, const struct launch *launch, uint32_t count,
                           const uint32_t *points, void **out_command);
    uint32_t (*add_copy)(void *graph, const struct range *to, const struct range *from,
                         size_t words, uint32_t count, const uint32_t *points);
    uint32_t (*add_fill)(void *graph, const struct range *to, uint32_t value, size_t words,
                         uint32_t count, const uint32_t *points);
    void (*finalize)(void *graph);
    void (*update)(void *graph, void *command, uint32_t number, void *kernel,
                   const struct launch *launch);
    void (*execute)(void *queue, void *graph, const struct waits *waits, void **out_event);
    void *(*begin_capture)(void *queue);
    void *(*end_capture)(void *queue, void *capture); // a graph
    void (*dump)(void *graph);                        // to nowhere
};

extern const struct front_end front_end;

// ---- Threads ----

struct queue {
    void *handle;
    unsigned device;
    bool is_in_order, is_timed;
};

struct step {
    uint32_t reads, writes; // places, as bits
    uint64_t before;        // steps that are over before it begins, as bits
    unsigned queue;
    void *event; // owned; NULL: none was asked for
    // To tell of a failure
    const char *operation;
    uint64_t waited; // steps in its wait list, as bits
};

// What a place held at some moment of the phase.
struct look {
    uint32_t expected[WORDS];
    unsigned place;
};

// A command of a thread's own graph.
struct graph_command {
    enum { COMMAND_LAUNCH, COMMAND_COPY, COMMAND_FILL } kind;
    struct launch launch;
    struct range to, from;
    size_t words;
    uint32_t value;
    void *kernel;  // borrowed: one of all threads
    void *command; // of the interface
};

struct graph {
    void *handle;
    unsigned count, device, executions;
    bool is_updatable;
    uint32_t reads, writes;
    uint64_t before; // the newest execution
    struct graph_command commands[GRAPH_COMMANDS];
};

// A thread's part of the shared graph: a stamp. Words are not known between an update and the next
// execution, since other threads may have executed it or not.
struct slot {
    uint32_t *words; // host memory
    void *command;
    struct launch launch;
    struct place place;
    uint32_t model[SLOT_WORDS];
    bool is_known[SLOT_WORDS];
};

struct host_write {
    char *at;
    size_t words;
    uint32_t value;
};

enum {
    PLACES = 14,
    PLACE_HOST = 2,
    PLACE_PART = 7,
    PLACE_OTHER_PART = 12,
    HOST_WRITES = 64,
    LATCHES = 16
};

struct worker {
    unsigned number;
    uint32_t state; // of the random numbers
    struct place places[PLACES];
    struct queue own;
    struct slot slot;
    struct graph graph;
    // The phase
    void *gate;
    bool is_gate_closed;
    unsigned gate_step;        // if there is a gate
    unsigned open_latch_count; // of the round
    void *open_latches[LATCHES];
    unsigned step_count;
    struct step steps[STEPS];
    unsigned former_count; // of those that have ended
    struct step former[STEPS];
    uint64_t queue_before[QUEUES]; // what comes before the next step of each
    uint32_t used_queues;
    unsigned write_count;
    struct host_write writes[HOST_WRITES];
    unsigned look_count;
    struct look looks[LOOKS];
    struct place look_place; // host memory
    char *look_memory;       // of LOOKS places
    // For the watchdog
    _Atomic(const char *) operation;
    atomic_uint_fast64_t since_ns; // 0: not at work
    unsigned long id;              // pthread_t
};

struct world {
    // A free of the driver's may wait in the call for later kernels (quirk frees-wait). zepi frees
    // memory as it enqueues commands: the watchdog opens the gate of a thread that is at it for
    // some seconds.
    bool frees_wait;
    // A command's call may wait for copies of its buffers: devices do not reach each other's
    // memory.
    bool buffers_wait;
    unsigned devices;
    struct queue queues[SHARED_QUEUES];
    void *kernels[KERNELS][2]; // of two modules; the second KERNEL_SCALE has another constant
    void *buffers[2];          // of parts
    char *buffer_memory;       // of the second one
    void *graph;
    struct worker workers[WORKERS];
    _Atomic(uint32_t) round_seed;
    atomic_uint_fast64_t operations;
};
extern struct world world;
extern _Thread_local struct worker *self;

// ---- Random numbers of the thread ----

uint32_t draw(uint32_t below);
static inline bool one_in(uint32_t number)
{
    return draw(number) == 0;
}

// Ends the process with the seed, the operation and a message.
_Noreturn void model_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

// ---- model_order.c: steps ----

struct queue *queue_of(unsigned number);
// A queue whose commands reach the places; QUEUES: there is none. `is_graph`: of the first device.
unsigned draw_queue(uint32_t places);
unsigned draw_queue_of(unsigned device);
unsigned draw_queue_on(unsigned device, uint32_t places);
// Begins a step; *out_waits is what its command waits for.
struct step *step_begin(unsigned queue, uint32_t reads, uint32_t writes, uint64_t before,
                        struct waits *out_waits);
// Where the command's event goes; NULL: no event.
void **step_event(struct step *step);
uint64_t step_bit(const struct step *step);
bool has_room_for_steps(void);
// Everything of the thread is complete, and equals the model. Ends its steps.
void phase_end(void);
void phase_begin(void);
void gate_open(void);
void gate_open_of(struct worker *worker); // any thread: for one that waits for its own gate
bool is_gate(const struct step *step);    // a step that is the gate
// Around a call that may wait so.
void begin_waiting_call(void);
void end_waiting_call(void);
// A new reference to what another thread lets others wait for, or NULL.
void *latch_take(unsigned worker);
void latches_release(struct worker *worker);
// Copies a place to compare it at the end of the phase.
void look_at(unsigned place);
uint32_t bit_of(const struct place *place);
bool is_buffer(const struct place *place);

// ---- model_memory.c ----

void places_make(void);
void places_free(void);
void places_renew(void); // at the end of a phase: those that cannot go while commands use them
size_t draw_range(struct range *range, unsigned place);

// ---- model_launch.c ----

void draw_sizes(struct launch *launch, size_t words);
void model_launch(const struct launch *launch);
uint32_t launch_value(const struct launch *launch, size_t item);
size_t launch_items(const struct launch *launch);
void *shared_kernel(enum kernel kernel);
// Kernels: one on the last device writes to a part, one on the first device reads it, and waits for
// the event, too.
void read_written_part(unsigned place, void *event);

// ---- model_graph.c ----

void shared_graph_make(void);
void graphs_release(void); // the thread's own
void slot_check(void);
void shared_graph_execute_behind(void *event);

// ---- The table ----

struct operation {
    const char *name;
    void (*run)(void);
    unsigned weight;
    bool may_wait; // for the host: not while the thread's gate is closed
};
extern const struct operation memory_operations[], launch_operations[], graph_operations[],
    order_operations[];

// ---- Running ----

// Rounds from `seed` on until the time is over; with `repeat` the same one again. Watched over: a
// hang, a signal and a wrong result end the process with the seed. `command`: that runs it again.
unsigned model_run(uint32_t seed, double seconds, bool repeat, const char *command);
uint64_t model_now_ns(void);

#endif
