// SPDX-License-Identifier: MIT
// Memories of all kinds: copies, fills, writes of the host, and memory that goes while commands use
// it.
#include "model.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct waits none;

// ---- Places ----

static const enum memory_kind kinds[PLACES] = {
    MEMORY_PLAIN,    MEMORY_PLAIN,   MEMORY_HOST, MEMORY_SHARED,     MEMORY_DEVICE,
    MEMORY_DEVICE,   MEMORY_ORDERED, MEMORY_PART, MEMORY_PART,       MEMORY_REGISTERED,
    MEMORY_IMPORTED, MEMORY_BUFFER,  MEMORY_PART, MEMORY_HOST_BUFFER};

// The buffer that a place is a part of, by the place's number.
static unsigned whole_of(unsigned place)
{
    return place == 8;
}

static bool needs_plain(enum memory_kind kind)
{
    return kind == MEMORY_PLAIN || kind == MEMORY_REGISTERED || kind == MEMORY_IMPORTED ||
           kind == MEMORY_HOST_BUFFER;
}

static char *make_plain(enum memory_kind kind)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t size = WORDS * sizeof(uint32_t);
    void *memory = NULL;
    // Registrations are of whole pages.
    if (kind == MEMORY_REGISTERED || kind == MEMORY_IMPORTED) {
        if (posix_memalign(&memory, page, (size + page - 1) / page * page) != 0)
            memory = NULL;
    } else {
        memory = malloc(size);
    }
    if (!memory)
        model_fail("out of memory");
    return memory;
}

// What the host can write before there are commands.
static void write_all(struct place *place, uint32_t first)
{
    for (uint32_t i = 0; i < WORDS; i++)
        place->model[i] = first + i;
    if (place->plain)
        memcpy(place->plain, place->model, sizeof(place->model));
}

// A new place has the contents that a command gives it.
static void fill_all(struct place *place, unsigned queue)
{
    struct waits waits;
    const uint32_t value = draw(UINT32_MAX);
    const struct range to = {place, 0};
    struct step *step = step_begin(queue, 0, bit_of(place), 0, &waits);
    for (size_t i = 0; i < WORDS; i++)
        place->model[i] = value;
    if (is_buffer(place) && !front_end.copies_buffers) {
        const struct launch launch = {
            .kernel = KERNEL_STAMP, .value = value, .out = to, .dimensions = 1, .global = {WORDS}};
        front_end.launch(queue_of(queue)->handle, world.kernels[KERNEL_STAMP][0], &launch, &waits,
                         step_event(step));
        for (uint32_t i = 0; i < WORDS; i++)
            place->model[i] += i;
    } else {
        front_end.fill(queue_of(queue)->handle, &to, value, WORDS, &waits, step_event(step));
    }
}

static void make_place(unsigned number)
{
    struct place *place = &self->places[number];
    *place = (struct place){.kind = kinds[number],
                            .device = number == 5 || number == 6 ? world.devices - 1 : 0};
    if (place->kind == MEMORY_PART && !front_end.part)
        place->kind = MEMORY_BUFFER;
    if (needs_plain(place->kind))
        place->plain = make_plain(place->kind);
    write_all(place, draw(UINT32_MAX));
    switch (place->kind) {
    case MEMORY_PLAIN:
        place->memory = place->plain;
        return;
    case MEMORY_PART:
        front_end.part(world.buffers[whole_of(number)],
                       (size_t)(self->number * PLACES + number) * WORDS, place);
        break;
    case MEMORY_BUFFER:
        place->buffer = front_end.make_buffer(WORDS, NULL);
        break;
    case MEMORY_ORDERED: {
        const unsigned queue = draw_queue_of(place->device);
        struct waits waits;
        struct step *step = step_begin(queue, 0, bit_of(place), 0, &waits);
        place->memory = front_end.allocate_ordered(queue_of(queue)->handle, &waits, &step->event);
        break;
    }
    default:
        if (front_end.make(place))
            break;
        // Not possible here: other memory of the host.
        free(place->plain);
        place->plain = NULL;
        place->kind = MEMORY_HOST;
        front_end.make(place);
    }
    if (!place->plain)
        fill_all(place, draw_queue(bit_of(place)));
}

static void free_place(struct place *place)
{
    if (place->kind == MEMORY_ORDERED) {
        const unsigned queue = draw_queue_of(place->device);
        front_end.free_ordered(queue_of(queue)->handle, place->memory, &none, NULL);
    } else if (place->buffer) {
        front_end.release_buffer(place->buffer);
    } else if (place->kind != MEMORY_PLAIN) {
        front_end.free(place);
    }
    free(place->plain);
}

void places_make(void)
{
    for (unsigned i = 0; i < PLACES; i++) {
        if (self->step_count > STEPS / 2)
            phase_end();
        make_place(i);
    }
}

void places_free(void)
{
    for (unsigned i = 0; i < PLACES; i++)
        free_place(&self->places[i]);
}

// Later executions use it.
static bool is_in_graph(const struct place *place)
{
    return ((self->graph.reads | self->graph.writes) & bit_of(place)) != 0;
}

void places_renew(void)
{
    for (unsigned i = 0; i < PLACES; i++) {
        struct place *place = &self->places[i];
        if (!place->plain || is_in_graph(place) || !one_in(3))
            continue;
        free_place(place);
        make_place(i);
    }
}

// ---- Ranges ----

// A range of a place that does not reach past it: its words.
size_t draw_range(struct range *range, unsigned place)
{
    static const uint32_t sizes[] = {4, 64, 400, WORDS};
    const size_t words = 1 + draw(sizes[draw(4)]);
    *range = (struct range){&self->places[place], draw((uint32_t)(WORDS - words + 1))};
    return words;
}

// Two places for a copy, and a queue that reaches both; QUEUES: there is none.
static unsigned draw_two(struct range *to, struct range *from, size_t *out_words)
{
    const unsigned to_place = draw(PLACES);
    const unsigned from_place = (to_place + 1 + draw(PLACES - 1)) % PLACES;
    *out_words = draw_range(to, to_place);
    draw_range(from, from_place);
    from->word = draw((uint32_t)(WORDS - *out_words + 1));
    if (!front_end.copies_buffers && (is_buffer(to->place) || is_buffer(from->place)))
        return QUEUES;
    return draw_queue(1u << to_place | 1u << from_place);
}

static bool is_unknown(const struct place *place)
{
    return place->kind == MEMORY_PLAIN || place->kind == MEMORY_IMPORTED;
}

static void copy(void)
{
    struct range to, from;
    struct waits waits;
    size_t words;
    const unsigned queue = draw_two(&to, &from, &words);
    if (queue == QUEUES || !has_room_for_steps())
        return;
    struct step *step = step_begin(queue, bit_of(from.place), bit_of(to.place), 0, &waits);
    front_end.copy(queue_of(queue)->handle, &to, &from, words, &waits, step_event(step));
    memcpy(to.place->model + to.word, from.place->model + from.word, words * sizeof(uint32_t));
}

static void copy_rows(void)
{
    struct range to, from;
    struct waits waits;
    size_t words;
    const unsigned queue = draw_two(&to, &from, &words);
    const size_t width = 1 + draw(16);
    const size_t rows = 1 + draw(10);
    const size_t to_pitch = width + draw(20);
    const size_t from_pitch = width + draw(20);
    if (queue == QUEUES || is_buffer(to.place) || is_buffer(from.place) || !has_room_for_steps())
        return;
    to.word = draw((uint32_t)(WORDS - rows * to_pitch));
    from.word = draw((uint32_t)(WORDS - rows * from_pitch));
    struct step *step = step_begin(queue, bit_of(from.place), bit_of(to.place), 0, &waits);
    front_end.copy_rows(queue_of(queue)->handle, &to, to_pitch, &from, from_pitch, width, rows,
                        &waits, step_event(step));
    for (size_t row = 0; row < rows; row++)
        memcpy(to.place->model + to.word + row * to_pitch,
               from.place->model + from.word + row * from_pitch, width * sizeof(uint32_t));
}

static void fill(void)
{
    struct range to;
    struct waits waits;
    const unsigned place = draw(PLACES);
    const size_t words = draw_range(&to, place);
    const uint32_t value = draw(UINT32_MAX);
    const unsigned queue = draw_queue(1u << place);
    if (queue == QUEUES || is_unknown(to.place) || !has_room_for_steps() ||
        (is_buffer(to.place) && !front_end.copies_buffers))
        return;
    struct step *step = step_begin(queue, 0, bit_of(to.place), 0, &waits);
    front_end.fill(queue_of(queue)->handle, &to, value, words, &waits, step_event(step));
    for (size_t i = 0; i < words; i++)
        to.place->model[to.word + i] = value;
}

// ---- The host ----

static void write_words(void *data)
{
    const struct host_write *write = data;
    uint32_t *words = (uint32_t *)(void *)write->at;
    for (size_t i = 0; i < write->words; i++)
        words[i] = write->value;
}

// A function of the host writes in the order of the queue.
static void call_host(void)
{
    struct range to;
    struct waits waits;
    const unsigned place = draw(PLACES);
    const size_t words = draw_range(&to, place);
    const unsigned queue = draw_queue(1u << place);
    if (queue == QUEUES || !front_end.has_host_functions() || !has_room_for_steps() ||
        self->write_count == HOST_WRITES ||
        !(is_unknown(to.place) || to.place->kind == MEMORY_HOST))
        return;
    struct host_write *write = &self->writes[self->write_count++];
    *write =
        (struct host_write){to.place->memory + to.word * sizeof(uint32_t), words, draw(UINT32_MAX)};
    struct step *step = step_begin(queue, 0, bit_of(to.place), 0, &waits);
    front_end.call_host(queue_of(queue)->handle, write_words, write, &waits, &step->event);
    for (size_t i = 0; i < words; i++)
        to.place->model[to.word + i] = write->value;
}

// The host sees a buffer and writes to it, once the commands before have ended.
static void map(void)
{
    struct range range;
    struct waits waits;
    const unsigned place = draw(PLACES);
    const size_t words = draw_range(&range, place);
    const unsigned queue = draw_queue(1u << place);
    const uint32_t value = draw(UINT32_MAX);
    if (queue == QUEUES || !front_end.map || !is_buffer(range.place) || !has_room_for_steps())
        return;
    struct step *step = step_begin(queue, 0, bit_of(range.place), 0, &waits);
    if (waits.count > 0)
        front_end.wait(waits.count, waits.events);
    uint32_t *mapped = front_end.map(queue_of(queue)->handle, &range, words);
    if (memcmp(mapped, range.place->model + range.word, words * sizeof(*mapped)) != 0)
        model_fail("a mapped range of memory %u (kind %u) differs", place, range.place->kind);
    for (size_t i = 0; i < words; i++)
        range.place->model[range.word + i] = mapped[i] = value + (uint32_t)i;
    front_end.unmap(queue_of(queue)->handle, &range, mapped);
    front_end.marker(queue_of(queue)->handle, &none, &step->event);
}

// ---- Memory that goes while commands use it ----

static void free_in_order(struct place *place, bool *out_is_ordered)
{
    struct waits waits;
    const unsigned queue = draw_queue(bit_of(place));
    *out_is_ordered = place->kind == MEMORY_ORDERED && queue != QUEUES;
    if (!*out_is_ordered)
        return;
    struct step *step = step_begin(queue, 0, bit_of(place), 0, &waits);
    front_end.free_ordered(queue_of(queue)->handle, place->memory, &waits, &step->event);
    const unsigned next = one_in(2) ? queue : draw_queue(bit_of(place));
    step = step_begin(next, 0, bit_of(place), 0, &waits);
    place->memory = front_end.allocate_ordered(queue_of(next)->handle, &waits, &step->event);
    fill_all(place, draw_queue(bit_of(place)));
}

static void replace_memory(void)
{
    struct place *place = &self->places[draw(PLACES)];
    bool is_ordered;
    if (place->plain || place->kind == MEMORY_PART || is_in_graph(place) ||
        self->step_count + 3 > STEPS || draw_queue(bit_of(place)) == QUEUES)
        return;
    free_in_order(place, &is_ordered);
    if (is_ordered)
        return;
    if (place->buffer) {
        front_end.release_buffer(place->buffer);
        place->buffer = front_end.make_buffer(WORDS, NULL);
    } else {
        front_end.free(place);
        front_end.make(place);
    }
    // Commands on the new memory need not wait for those on the old one.
    for (unsigned i = 0; i < self->step_count; i++) {
        if (is_gate(&self->steps[i]))
            continue;
        self->steps[i].reads &= ~bit_of(place);
        self->steps[i].writes &= ~bit_of(place);
    }
    fill_all(place, draw_queue(bit_of(place)));
}

static void trim_pool(void)
{
    begin_waiting_call();
    front_end.trim_pool();
    end_waiting_call();
}

const struct operation memory_operations[] = {{"copy", copy, 16, false},
                                              {"copy of rows", copy_rows, 4, false},
                                              {"fill", fill, 4, false},
                                              {"function of the host", call_host, 4, false},
                                              {"map", map, 2, true},
                                              {"replace memory", replace_memory, 3, false},
                                              {"trim of a pool", trim_pool, 1, true},
                                              {0}};
