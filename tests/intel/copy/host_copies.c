// SPDX-License-Identifier: MIT
#include "copy/host_copies.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS 8 // for each kind of queue
#define CLOSED_COMMANDS 12
#define OPEN_COMMANDS 4
#define EXECUTIONS 7 // under way at once without a wait of the host
#define BYTES ((size_t)150000)
#define PLAIN 2 // memories of malloc; then one of each kind of USM
#define MEMORIES (PLAIN + 3)

static const struct copy_door *door;
static unsigned char *memory[MEMORIES];
static unsigned char model[MEMORIES][BYTES];
static unsigned char model_image[COPY_IMAGE_BYTES];
static bool is_gate_closed;
static unsigned executions; // of the round

static size_t random_below(size_t limit)
{
    return (size_t)(intel_random() % limit);
}

static size_t random_size(size_t limit)
{
    static const size_t sizes[] = {64, 5000, 70000};
    const size_t size = 1 + random_below(sizes[random_below(3)]);
    return size < limit ? size : limit;
}

// Without a wait list the driver waits for a copy to plain memory while it is appended.
static bool has_to_wait(unsigned to)
{
    return is_gate_closed && to < PLAIN;
}

struct range {
    unsigned from, to;
    size_t from_offset, to_offset, bytes;
};

// Between two memories.
static struct range random_range(void)
{
    struct range range = {.from = (unsigned)random_below(MEMORIES)};
    // Mostly from plain memory.
    if (intel_random() % 2)
        range.from %= PLAIN;
    range.to = (range.from + 1 + (unsigned)random_below(MEMORIES - 1)) % MEMORIES;
    range.from_offset = random_below(BYTES);
    range.to_offset = random_below(BYTES);
    const size_t last = range.from_offset > range.to_offset ? range.from_offset : range.to_offset;
    range.bytes = random_size(BYTES - last);
    return range;
}

static void model_range(const struct range *range)
{
    memcpy(model[range->to] + range->to_offset, model[range->from] + range->from_offset,
           range->bytes);
}

static void copy_bytes(void)
{
    const struct range range = random_range();
    door->copy(memory[range.to] + range.to_offset, memory[range.from] + range.from_offset,
               range.bytes, has_to_wait(range.to));
    model_range(&range);
}

static void copy_rows(void)
{
    const struct range range = random_range();
    const size_t width = 1 + random_below(100);
    const size_t to_pitch = width + random_below(50);
    const size_t from_pitch = width + random_below(50);
    const size_t height = 1 + random_below(20);
    const size_t to_offset = range.to_offset % (BYTES - 20 * 150);
    const size_t from_offset = range.from_offset % (BYTES - 20 * 150);
    door->copy_rows(memory[range.to] + to_offset, to_pitch, memory[range.from] + from_offset,
                    from_pitch, width, height, has_to_wait(range.to));
    for (size_t row = 0; row < height; row++)
        memcpy(model[range.to] + to_offset + row * to_pitch,
               model[range.from] + from_offset + row * from_pitch, width);
}

static void copy_image(void)
{
    const unsigned plain = (unsigned)random_below(PLAIN);
    const size_t offset = random_below(BYTES - COPY_IMAGE_BYTES) & ~(size_t)3;
    if (intel_random() % 2) {
        door->write_image(memory[plain] + offset);
        memcpy(model_image, model[plain] + offset, COPY_IMAGE_BYTES);
    } else {
        door->read_image(memory[plain] + offset, is_gate_closed);
        memcpy(model[plain] + offset, model_image, COPY_IMAGE_BYTES);
    }
}

// ---- Writes of the host ----

struct host_write {
    unsigned char *at;
    size_t bytes;
    unsigned char value;
};

static struct host_write writes[CLOSED_COMMANDS + OPEN_COMMANDS + 1];
static unsigned write_count;

static void write_plain(void *data)
{
    const struct host_write *write = data;
    memset(write->at, write->value, write->bytes);
}

// One that the model has done.
static struct host_write *random_write(void)
{
    const unsigned plain = (unsigned)random_below(PLAIN);
    const size_t offset = random_below(BYTES);
    struct host_write *write = &writes[write_count++];
    *write = (struct host_write){memory[plain] + offset, random_size(BYTES - offset),
                                 (unsigned char)intel_random()};
    memset(model[plain] + offset, write->value, write->bytes);
    return write;
}

// ---- Rounds ----

static void enqueue(const struct range *recorded)
{
    switch (intel_random() % 8) {
    case 0:
        copy_rows();
        break;
    case 1:
        copy_image();
        break;
    case 2:
        if (door->has_host_functions())
            door->call_host(write_plain, random_write());
        break;
    case 3:
        if (executions++ >= EXECUTIONS)
            break;
        door->execute();
        model_range(recorded);
        break;
    default:
        copy_bytes();
    }
    door->order();
}

static void check(unsigned kind, unsigned round)
{
    static unsigned char read[BYTES];
    for (unsigned i = 0; i < MEMORIES; i++) {
        const unsigned char *found = memory[i];
        if (i >= PLAIN) {
            door->copy(read, memory[i], BYTES, false);
            door->finish();
            found = read;
        }
        for (size_t at = 0; at < BYTES; at++)
            INTEL_EXPECT(found[at] == model[i][at],
                         "queue %u, round %u: byte %zu of memory %u is %u, expected %u", kind,
                         round, at, i, found[at], model[i][at]);
    }
}

static void run_round(enum copy_queue kind, unsigned round)
{
    struct range recorded = random_range();
    recorded.from %= PLAIN;
    recorded.to = PLAIN + recorded.to % (MEMORIES - PLAIN);
    write_count = 0;
    executions = 0;
    door->begin(kind);
    door->record(memory[recorded.to] + recorded.to_offset,
                 memory[recorded.from] + recorded.from_offset, recorded.bytes);
    door->close_gate();
    is_gate_closed = true;
    // All commands come after it.
    struct host_write *write = random_write();
    for (unsigned i = 0; i < CLOSED_COMMANDS; i++)
        enqueue(&recorded);
    write_plain(write);
    door->open_gate();
    is_gate_closed = false;
    for (unsigned i = 0; i < OPEN_COMMANDS; i++)
        enqueue(&recorded);
    door->finish();
    check(kind, round);
    door->end();
}

static void set_up(void)
{
    door->set_up();
    for (unsigned i = 0; i < MEMORIES; i++) {
        memory[i] = i < PLAIN ? malloc(BYTES) : door->allocate(i - PLAIN, BYTES);
        INTEL_EXPECT(memory[i] != NULL, "no memory");
        for (size_t at = 0; at < BYTES && i < PLAIN; at++)
            model[i][at] = memory[i][at] = (unsigned char)intel_random();
    }
    door->begin(COPIES_IN_ORDER);
    for (unsigned i = PLAIN; i < MEMORIES; i++) {
        door->copy(memory[i], memory[0], BYTES, false);
        memcpy(model[i], model[0], BYTES);
    }
    door->write_image(memory[0]);
    memcpy(model_image, model[0], COPY_IMAGE_BYTES);
    door->finish();
    door->end();
}

void host_copies_run(const struct copy_door *copy_door)
{
    door = copy_door;
    set_up();
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned kind = 0; kind < COPY_QUEUES; kind++)
            run_round((enum copy_queue)kind, round);
    }
    for (unsigned i = 0; i < MEMORIES; i++) {
        if (i < PLAIN)
            free(memory[i]);
        else
            door->free(memory[i]);
    }
    door->tear_down();
}
