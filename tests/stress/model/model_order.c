// SPDX-License-Identifier: MIT
// Steps of a phase and what they wait for; gates; comparison with the model.
#include "model.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const struct waits none;

uint32_t bit_of(const struct place *place)
{
    return 1u << (place - self->places);
}

bool is_buffer(const struct place *place)
{
    return place->buffer != NULL;
}

struct queue *queue_of(unsigned number)
{
    return number == OWN_QUEUE ? &self->own : &world.queues[number];
}

// ---- Queues ----

// Whether commands reach memory of this kind on one device alone.
static bool is_bound(const struct place *place)
{
    return place->kind == MEMORY_SHARED || place->kind == MEMORY_DEVICE ||
           place->kind == MEMORY_ORDERED;
}

// Level Zero has times of an event in memory of one device: the call of a command on another one
// waits for such an event. Commands that others may have to wait for, through a buffer that all
// have parts of, must not have one, and neither must those behind a closed gate.
static bool is_right(const struct queue *queue, uint32_t places)
{
    bool has_buffer = false;
    for (unsigned i = 0; i < PLACES; i++) {
        if ((places & 1u << i) == 0)
            continue;
        const struct place *place = &self->places[i];
        if (is_bound(place) && place->device != queue->device)
            return false;
        has_buffer = has_buffer || is_buffer(place);
    }
    if (has_buffer && self->is_gate_closed && world.buffers_wait)
        return false;
    return world.devices == 1 || !queue->is_timed || !(has_buffer || self->is_gate_closed);
}

static unsigned draw_right(uint32_t places, bool is_any_device, unsigned device)
{
    const unsigned first = draw(QUEUES);
    for (unsigned i = 0; i < QUEUES; i++) {
        const unsigned number = (first + i) % QUEUES;
        const struct queue *queue = queue_of(number);
        if ((is_any_device || queue->device == device) && is_right(queue, places))
            return number;
    }
    return QUEUES;
}

unsigned draw_queue(uint32_t places)
{
    return draw_right(places, true, 0);
}

unsigned draw_queue_on(unsigned device, uint32_t places)
{
    return draw_right(places, false, device);
}

unsigned draw_queue_of(unsigned device)
{
    return draw_right(0, false, device);
}

// ---- Steps ----

static bool conflict(const struct step *a, const struct step *b)
{
    return ((a->writes & (b->reads | b->writes)) | (a->reads & b->writes)) != 0;
}

uint64_t step_bit(const struct step *step)
{
    return (uint64_t)1 << (step - self->steps);
}

bool is_gate(const struct step *step)
{
    return self->gate && step == &self->steps[self->gate_step];
}

bool has_room_for_steps(void)
{
    return self->step_count < STEPS;
}

// A step without an event is in an in-order queue: an event of everything there will do.
static void *event_of(struct step *step)
{
    if (!step->event)
        front_end.marker(queue_of(step->queue)->handle, &none, &step->event);
    return step->event;
}

struct step *step_begin(unsigned queue, uint32_t reads, uint32_t writes, uint64_t before,
                        struct waits *out_waits)
{
    struct step *step = &self->steps[self->step_count];
    out_waits->count = 0;
    *step = (struct step){.reads = reads,
                          .writes = writes,
                          .queue = queue,
                          .operation = atomic_load(&self->operation),
                          .before = before | self->queue_before[queue]};
    for (unsigned i = self->step_count; i-- > 0;) {
        const bool is_free = (step->before & (uint64_t)1 << i) == 0;
        if ((is_free && conflict(step, &self->steps[i])) || one_in(12)) {
            out_waits->events[out_waits->count++] = event_of(&self->steps[i]);
            step->waited |= (uint64_t)1 << i;
            step->before |= (uint64_t)1 << i | self->steps[i].before;
        }
    }
    self->step_count++;
    self->used_queues |= 1u << queue;
    if (queue_of(queue)->is_in_order)
        self->queue_before[queue] = step_bit(step) | step->before;
    atomic_fetch_add_explicit(&world.operations, 1, memory_order_relaxed);
    return step;
}

void **step_event(struct step *step)
{
    return queue_of(step->queue)->is_in_order && one_in(2) ? NULL : &step->event;
}

// ---- Results ----

void look_at(unsigned number)
{
    struct place *place = &self->places[number];
    struct waits waits;
    const unsigned queue = draw_queue(bit_of(place));
    if (queue == QUEUES || self->look_count == LOOKS || !has_room_for_steps())
        return;
    struct look *look = &self->looks[self->look_count];
    look->place = number;
    memcpy(look->expected, place->model, sizeof(place->model));
    struct step *step = step_begin(queue, bit_of(place), 0, 0, &waits);
    const struct range to = {&self->look_place, (size_t)self->look_count++ * WORDS};
    const struct range from = {place, 0};
    if (!is_buffer(place) || front_end.copies_buffers) {
        front_end.copy(queue_of(queue)->handle, &to, &from, WORDS, &waits, step_event(step));
        return;
    }
    struct launch launch = {.kernel = KERNEL_SCALE,
                            .value = 1,
                            .a = from,
                            .out = to,
                            .dimensions = 1,
                            .global = {WORDS}};
    front_end.launch(queue_of(queue)->handle, world.kernels[KERNEL_SCALE][0], &launch, &waits,
                     step_event(step));
}

static void print_step(unsigned number, const struct step *step, unsigned place)
{
    const struct queue *queue = queue_of(step->queue < QUEUES ? step->queue : 0);
    fprintf(stderr, "model: %s %u: %s, reads %x, writes %x, queue %u (device %u%s%s), waits for",
            (step->reads | step->writes) & 1u << place ? "step*" : "step ", number,
            step->operation ? step->operation : "the gate", step->reads, step->writes, step->queue,
            queue->device, queue->is_in_order ? ", in order" : "",
            queue->is_timed ? ", timed" : "");
    for (unsigned i = 0; i < STEPS; i++) {
        if (step->waited & (uint64_t)1 << i)
            fprintf(stderr, " %u", i);
    }
    fputc('\n', stderr);
}

// The steps of late; a star is at those that touched the memory.
static void print_steps(unsigned place)
{
    for (unsigned i = 0; i < self->former_count; i++)
        print_step(i, &self->former[i], place);
    fputs("model: all steps before ended\n", stderr);
    for (unsigned i = 0; i < self->step_count; i++)
        print_step(i, &self->steps[i], place);
}

static void check_words(unsigned number)
{
    const struct look *look = &self->looks[number];
    const uint32_t *found = (const uint32_t *)(void *)self->look_memory + (size_t)number * WORDS;
    for (size_t at = 0; at < WORDS; at++) {
        if (found[at] == look->expected[at])
            continue;
        print_steps(look->place);
        model_fail("look %u: word %zu of memory %u (kind %u) is %u, expected %u", number, at,
                   look->place, self->places[look->place].kind, found[at], look->expected[at]);
    }
}

static void check_looks(void)
{
    for (unsigned i = 0; i < self->look_count; i++)
        check_words(i);
    self->look_count = 0;
}

// ---- Phases ----

static void forget_steps(void)
{
    for (unsigned i = 0; i < self->step_count; i++) {
        if (self->steps[i].event)
            front_end.release_event(self->steps[i].event);
    }
    memcpy(self->former, self->steps, self->step_count * sizeof(self->steps[0]));
    self->former_count = self->step_count;
    self->step_count = 0;
    self->used_queues = 0;
    memset(self->queue_before, 0, sizeof(self->queue_before));
    self->graph.before = 0;
    self->graph.executions = 0;
}

static void finish_queues(void)
{
    for (unsigned i = 0; i < QUEUES; i++) {
        if (self->used_queues & 1u << i)
            front_end.finish(queue_of(i)->handle);
    }
    // Of queues that were released, whose events keep them.
    for (unsigned i = 0; i < self->step_count; i++) {
        if (self->steps[i].queue == QUEUES)
            front_end.wait(1, &self->steps[i].event);
    }
}

// In one of the ways that there are.
static void wait_for_steps(void)
{
    void *events[STEPS];
    if (self->step_count == 0)
        return;
    switch (draw(front_end.wait_for_device ? 3 : 2)) {
    case 0:
        for (unsigned i = 0; i < self->step_count; i++)
            events[i] = event_of(&self->steps[i]);
        front_end.wait(self->step_count, events);
        break;
    case 1:
        finish_queues();
        break;
    default:
        for (unsigned i = 0; i < world.devices; i++)
            front_end.wait_for_device(i);
    }
}

static void wait_and_check(void)
{
    wait_for_steps();
    check_looks();
    forget_steps();
    self->write_count = 0;
}

// ---- Latches ----

// What other threads may wait for until this one opens its gate: an event of another context. And
// that gate.
struct latch {
    pthread_mutex_t mutex; // guards the pointers, and the worker's open latches
    void *gate;            // owned
    void *own;             // borrowed: the thread's gate while it is closed; NULL: it is open
};
static struct latch latches[WORKERS] = {
    {PTHREAD_MUTEX_INITIALIZER, NULL, NULL},
    {PTHREAD_MUTEX_INITIALIZER, NULL, NULL},
    {PTHREAD_MUTEX_INITIALIZER, NULL, NULL},
};

void *latch_take(unsigned worker)
{
    struct latch *latch = &latches[worker];
    void *event = NULL;
    pthread_mutex_lock(&latch->mutex);
    if (latch->gate) {
        event = front_end.event_of_gate(latch->gate);
        front_end.retain_event(event);
    }
    pthread_mutex_unlock(&latch->mutex);
    return event;
}

static void open_latch_locked(struct latch *latch, struct worker *worker)
{
    if (!latch->gate)
        return;
    front_end.open_gate(latch->gate);
    worker->open_latches[worker->open_latch_count++] = latch->gate;
    latch->gate = NULL;
}

static void open_latch(void)
{
    struct latch *latch = &latches[self->number];
    pthread_mutex_lock(&latch->mutex);
    open_latch_locked(latch, self);
    pthread_mutex_unlock(&latch->mutex);
}

void gate_open_of(struct worker *worker)
{
    struct latch *latch = &latches[worker->number];
    pthread_mutex_lock(&latch->mutex);
    if (latch->own)
        front_end.open_gate(latch->own);
    latch->own = NULL;
    open_latch_locked(latch, worker);
    pthread_mutex_unlock(&latch->mutex);
}

// One of the thread's pointers is set.
static void latch_set(void **pointer, void *gate)
{
    struct latch *latch = &latches[self->number];
    pthread_mutex_lock(&latch->mutex);
    *pointer = gate;
    pthread_mutex_unlock(&latch->mutex);
}

// When no thread's commands wait for them any more.
void latches_release(struct worker *worker)
{
    for (unsigned i = 0; i < worker->open_latch_count; i++)
        front_end.release_gate(worker->open_latches[i]);
    worker->open_latch_count = 0;
}

// ---- Phases ----

// Read: while a gate is closed. Write: while the driver may wait in a call, under a lock that a
// thread behind its gate may need: in zeMemFree (quirk frees-wait).
static pthread_rwlock_t gates = PTHREAD_RWLOCK_INITIALIZER;

void begin_waiting_call(void)
{
    if (world.frees_wait && !self->is_gate_closed)
        pthread_rwlock_wrlock(&gates);
}

void end_waiting_call(void)
{
    if (world.frees_wait && !self->is_gate_closed)
        pthread_rwlock_unlock(&gates);
}

// Executions of other threads wait for one behind the gate. It comes before the gate is in the way
// of anything else, so that its call may wait for other threads'.
static void close_gate(void)
{
    pthread_rwlock_rdlock(&gates);
    // A marker that is enqueued behind the gate could come behind commands that wait for it.
    for (unsigned i = 0; i < self->step_count; i++)
        event_of(&self->steps[i]);
    self->gate = front_end.make_gate(false);
    latch_set(&latches[self->number].own, self->gate);
    void *event = front_end.event_of_gate(self->gate);
    front_end.retain_event(event);
    self->gate_step = self->step_count;
    self->steps[self->step_count++] =
        (struct step){.writes = draw(1u << PLACES) & draw(1u << PLACES), .event = event};
    if (one_in(2))
        shared_graph_execute_behind(event);
    self->is_gate_closed = true;
    if (one_in(2) && self->open_latch_count < LATCHES)
        latch_set(&latches[self->number].gate, front_end.make_gate(true));
}

void phase_begin(void)
{
    if (one_in(2))
        close_gate();
}

void gate_open(void)
{
    if (!self->is_gate_closed)
        return;
    gate_open_of(self);
    self->is_gate_closed = false;
    pthread_rwlock_unlock(&gates);
}

static void release_gate(void)
{
    if (self->gate)
        front_end.release_gate(self->gate);
    self->gate = NULL;
}

void phase_end(void)
{
    gate_open();
    wait_and_check();
    slot_check();
    release_gate();
    for (unsigned i = 0; i < PLACES; i++)
        look_at(i);
    wait_and_check();
}

// ---- Operations ----

static void look_somewhere(void)
{
    look_at(draw(PLACES));
}

// Holds up what comes later in the queue, of other threads, too.
static void enqueue_barrier(void)
{
    struct waits waits;
    const unsigned queue = draw_queue(0);
    if (!has_room_for_steps() || queue == QUEUES)
        return;
    struct step *step = step_begin(queue, 0, 0, 0, &waits);
    if (waits.count == 0 && !queue_of(queue)->is_in_order) {
        for (unsigned i = 0; i + 1 < self->step_count; i++) {
            if (self->steps[i].queue == queue && !is_gate(&self->steps[i]))
                step->before |= (uint64_t)1 << i | self->steps[i].before;
        }
    }
    front_end.barrier(queue_of(queue)->handle, &waits, &step->event);
    self->queue_before[queue] |= step_bit(step) | step->before;
}

static void enqueue_marker(void)
{
    struct waits waits;
    const unsigned queue = draw_queue(0);
    if (!has_room_for_steps() || queue == QUEUES)
        return;
    struct step *step = step_begin(queue, 0, 0, 0, &waits);
    front_end.marker(queue_of(queue)->handle, &waits, &step->event);
}

static void ask_status(void)
{
    if (self->step_count > 0)
        front_end.is_complete(event_of(&self->steps[draw(self->step_count)]));
}

static void wait_for_one(void)
{
    if (self->step_count == 0)
        return;
    void *event = event_of(&self->steps[draw(self->step_count)]);
    front_end.wait(1, &event);
}

static void finish_one(void)
{
    const unsigned queue = draw(QUEUES);
    front_end.finish(queue_of(queue)->handle);
}

static void wait_for_a_device(void)
{
    for (unsigned i = 1 + draw(20); i > 0 && front_end.wait_for_device; i--)
        front_end.wait_for_device(draw(world.devices));
}

// Its commands may not be over.
static void replace_queue(void)
{
    struct queue *own = &self->own;
    for (unsigned i = 0; i < self->step_count; i++) {
        if (self->steps[i].queue != OWN_QUEUE)
            continue;
        event_of(&self->steps[i]);
        self->steps[i].queue = QUEUES; // of none that there is
    }
    front_end.release_queue(own->handle);
    const unsigned kind = draw(4);
    *own = (struct queue){.device = draw(world.devices),
                          .is_in_order = kind & QUEUE_IN_ORDER,
                          .is_timed = kind & QUEUE_TIMED};
    own->handle = front_end.make_queue(own->device, kind);
    self->queue_before[OWN_QUEUE] = 0;
}

static void pause_a_while(void)
{
    const struct timespec a_while = {.tv_nsec = 1000 * draw(self->is_gate_closed ? 3000 : 300)};
    nanosleep(&a_while, NULL);
}

// Reads of the same memory in several queues need not wait for one another.
static void read_in_many_queues(void)
{
    const unsigned place = draw(PLACES);
    for (unsigned i = 0; i < 3; i++)
        look_at(place);
}

// A kernel behind the gate has a part of a buffer that all threads use. Reads of the part need not
// wait for the kernel, but for what brings the part to its device.
static void read_part_behind_gate(void)
{
    const unsigned place = one_in(2) ? PLACE_PART : PLACE_OTHER_PART;
    if (!self->is_gate_closed)
        return;
    pause_a_while();
    read_written_part(place, self->steps[self->gate_step].event);
    if (one_in(2)) {
        open_latch();
        pause_a_while();
    }
    for (unsigned i = 0; i < 3; i++)
        look_at(place);
}

// Where no device waits for the event, the call does, in the middle of what it does.
static void read_part_behind_latch(void)
{
    void *event = latch_take((self->number + 1 + draw(WORKERS - 1)) % WORKERS);
    if (!event)
        return;
    read_written_part(one_in(2) ? PLACE_PART : PLACE_OTHER_PART, event);
    front_end.release_event(event);
}

// Queues that nothing is enqueued to.
static void make_queues(void)
{
    enum { COUNT = 6 };
    void *queues[COUNT];
    for (unsigned i = 0; i < COUNT; i++)
        queues[i] = front_end.make_queue(draw(world.devices), draw(4));
    for (unsigned i = 0; i < COUNT; i++)
        front_end.release_queue(queues[i]);
}

const struct operation order_operations[] = {
    {"look", look_somewhere, 6, false},
    {"reads in many queues", read_in_many_queues, 4, false},
    {"read of a part behind the gate", read_part_behind_gate, 4, false},
    {"read of a part behind another thread", read_part_behind_latch, 3, true},
    {"open what others wait for", open_latch, 2, false},
    {"make queues", make_queues, 2, false},
    {"barrier", enqueue_barrier, 2, false},
    {"marker", enqueue_marker, 1, false},
    {"status of an event", ask_status, 2, false},
    {"pause", pause_a_while, 2, false},
    {"wait for an event", wait_for_one, 1, true},
    {"finish", finish_one, 1, true},
    {"wait for a device", wait_for_a_device, 2, true},
    {"replace a queue", replace_queue, 2, true},
    {0}};
