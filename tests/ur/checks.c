// SPDX-License-Identifier: MIT
#include "checks.h"

#include <criterion/criterion.h>
#include <string.h>

struct checks_objects own;
struct checks_objects other;
_Alignas(16) char checks_sink[CHECKS_SINK_BYTES];

struct known {
    enum noun noun;
    void *handle;
    bool is_live;
};
static struct known known[64];
static uint32_t known_count;

// Memory that is no object of the adapter: zeros, and values of no type.
static const uint64_t not_an_object[8];
static uint64_t nonsense[8];

static void note(enum noun noun, void *handle, bool is_live)
{
    known[known_count++] = (struct known){noun, handle, is_live};
}

static void make(struct checks_objects *objects, ur_context_handle_t context,
                 ur_device_handle_t device)
{
    const ur_sampler_desc_t sampler = {.stype = UR_STRUCTURE_TYPE_SAMPLER_DESC};
    ur_usm_pool_desc_t pool = {.stype = UR_STRUCTURE_TYPE_USM_POOL_DESC};
    const ur_image_format_t format = {UR_IMAGE_CHANNEL_ORDER_RGBA,
                                      UR_IMAGE_CHANNEL_TYPE_UNSIGNED_INT8};
    const ur_image_desc_t image = {.stype = UR_STRUCTURE_TYPE_IMAGE_DESC,
                                   .type = UR_MEM_TYPE_IMAGE2D,
                                   .width = CHECKS_PIXELS,
                                   .height = CHECKS_PIXELS};
    ur_context_handle_t before = gear.context;
    gear.context = context; // the fixture's functions mean this one
    objects->context = context;
    UR_OK(urQueueCreate(context, device, NULL, &objects->queue));
    UR_OK(urEnqueueEventsWait(objects->queue, 0, NULL, &objects->event));
    UR_OK(urEventWait(1, &objects->event));
    objects->input = ur_input("vector_add");
    objects->program = ur_executable("vector_add");
    UR_OK(urKernelCreate(objects->program, "vector_add", &objects->kernel));
    UR_OK(urMemBufferCreate(context, UR_MEM_FLAG_READ_WRITE, CHECKS_BYTES, NULL, &objects->buffer));
    UR_OK(
        urMemImageCreate(context, UR_MEM_FLAG_READ_WRITE, &format, &image, NULL, &objects->image));
    UR_OK(urSamplerCreate(context, &sampler, &objects->sampler));
    UR_OK(urUSMPoolCreate(context, &pool, &objects->pool));
    UR_OK(urUSMSharedAlloc(context, device, NULL, NULL, CHECKS_BYTES, &objects->usm));
    gear.context = before;
}

static void release(struct checks_objects *objects)
{
    UR_OK(urUSMFree(objects->context, objects->usm));
    UR_OK(urUSMPoolRelease(objects->pool));
    UR_OK(urSamplerRelease(objects->sampler));
    UR_OK(urMemRelease(objects->image));
    UR_OK(urMemRelease(objects->buffer));
    UR_OK(urKernelRelease(objects->kernel));
    UR_OK(urProgramRelease(objects->program));
    UR_OK(urProgramRelease(objects->input));
    UR_OK(urEventRelease(objects->event));
    UR_OK(urQueueRelease(objects->queue));
}

static void note_all(const struct checks_objects *objects, bool are_live)
{
    note(CONTEXT, objects->context, are_live);
    note(QUEUE, objects->queue, are_live);
    note(EVENT, objects->event, are_live);
    note(PROGRAM, objects->input, are_live);
    note(KERNEL, objects->kernel, are_live);
    note(MEM, objects->buffer, are_live);
    note(MEM, objects->image, are_live);
    note(SAMPLER, objects->sampler, are_live);
    note(POOL, objects->pool, are_live);
}

void checks_set_up(void)
{
    struct checks_objects released;
    ur_set_up_devices(2);
    make(&own, gear.context, gear.device);
    UR_OK(urContextCreate(1, &OTHER_DEVICE, NULL, &other.context));
    make(&other, other.context, OTHER_DEVICE);
    UR_OK(urContextCreate(1, &gear.device, NULL, &released.context));
    make(&released, released.context, gear.device);
    release(&released);
    UR_OK(urContextRelease(released.context));

    note(ADAPTER, gear.adapter, true);
    note(PLATFORM, gear.platform, true);
    note(DEVICE, gear.device, true);
    note_all(&own, true);
    note_all(&released, false);
    memset(nonsense, 0x5a, sizeof(nonsense));
    memset(checks_sink, 0xa5, sizeof(checks_sink));
}

void checks_tear_down(void)
{
    release(&own);
    release(&other);
    UR_OK(urContextRelease(other.context));
    ur_tear_down();
}

void *checks_bad_handle(enum noun noun, uint32_t number)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < known_count; i++) {
        if (known[i].is_live && known[i].noun == noun)
            continue;
        if (found++ == number)
            return known[i].handle;
    }
    switch (number - found) {
    case 0:
        return (void *)not_an_object;
    case 1:
        return nonsense;
    case 2:
        return (char *)own.context + 1;
    default:
        return NULL;
    }
}

bool checks_bad_wait_list(uint32_t number, uint32_t *out_count, const ur_event_handle_t **out_list)
{
    static ur_event_handle_t list[3];
    *out_count = 1;
    *out_list = list;
    list[0] = list[1] = list[2] = own.event;
    switch (number) {
    case 0:
        *out_list = NULL;
        return true;
    case 1:
        *out_count = 0;
        return true;
    case 2:
        list[0] = NULL;
        return true;
    case 3: // not the first one
        *out_count = 3;
        list[2] = NULL;
        return true;
    default:
        list[0] = checks_bad_handle(EVENT, number - 4);
        return list[0] != NULL;
    }
}

bool checks_bad_info(uint32_t number, uint32_t good, uint32_t last, ur_result_t size_0,
                     struct checks_info *out)
{
    *out = (struct checks_info){good, CHECKS_SINK_BYTES, checks_sink, NULL,
                                UR_RESULT_ERROR_INVALID_ENUMERATION};
    switch (number) {
    case 0:
        out->query = last + 1;
        return true;
    case 1:
        out->query = INT32_MAX;
        return true;
    case 2:
        out->query = UINT32_MAX;
        return true;
    case 3:
        out->size = 0;
        out->expected = size_0;
        return true;
    case 4:
        out->value = NULL;
        out->expected = UR_RESULT_ERROR_INVALID_NULL_POINTER;
        return true;
    case 5:
        out->size = 0;
        out->value = NULL;
        out->expected = UR_RESULT_ERROR_INVALID_NULL_POINTER;
        return true;
    case 6: // every answer has more than one byte; out_size is another output
        out->size = 1;
        out->out_size = (size_t *)(checks_sink + 64);
        out->expected = UR_RESULT_ERROR_INVALID_SIZE;
        return true;
    default:
        return false;
    }
}

void checks_refusal(ur_result_t result, ur_result_t expected, const char *expected_name,
                    const char *call, const char *file, int line)
{
    static int failed_line; // one report for all wrong handles
    if (line == failed_line)
        return;
    if (result != expected)
        failed_line = line;
    cr_expect_eq(result, expected, "%s:%d: %s\n    answers %d, expected %s (%d)\n    says: %s",
                 file, line, call, (int)result, expected_name, (int)expected, ur_last_error());
    cr_expect(ur_last_error()[0] != '\0', "%s:%d: %s\n    says nothing", file, line, call);
    for (size_t i = 0; i < sizeof(checks_sink); i++) {
        if (checks_sink[i] == (char)0xa5)
            continue;
        cr_expect(false, "%s:%d: %s\n    writes an output (byte %zu)", file, line, call, i);
        memset(checks_sink, 0xa5, sizeof(checks_sink));
    }
}
