// SPDX-License-Identifier: MIT
#include "module/build_memo.h"

#include "base/alloc.h"
#include "device/context.h"
#include "module/module.h"

void zepi_build_memo_release(struct zepi_build_memo *memo)
{
    // Acquire and release: what others read is over before the memory goes.
    if (!memo || atomic_fetch_sub_explicit(&memo->references, 1, memory_order_acq_rel) > 1)
        return;
    for (uint32_t i = 0; i < memo->key_count; i++)
        zepi_key_finish(&memo->keys[i]);
    zepi_build_options_finish(&memo->options);
    zepi_spec_values_release(memo->values);
    zepi_free((char *)memo->asked);
    zepi_free(memo);
}

// On a copy of the options, so that the canonical ones may be these.
static bool set_options(struct zepi_build_memo *memo, const zepi_build_desc_t *desc)
{
    zepi_build_desc_t own = {.size = sizeof(own)};
    if (desc && desc->options) {
        memo->asked = zepi_duplicate_string(desc->options);
        if (!memo->asked)
            return false;
    }
    memo->flags = desc ? desc->flags & ZEPI_BUILD_DEBUG : 0;
    own.options = memo->asked;
    own.flags = memo->flags;
    return zepi_build_options_init(&memo->options, &own) == ZEPI_SUCCESS;
}

struct zepi_build_memo *zepi_build_memo_create(const struct zepi_module *input,
                                               struct zepi_spec_values *values,
                                               const zepi_build_desc_t *desc)
{
    const uint32_t count = input->context->device_count;
    // On cache lines of its own: each build from this input counts its references.
    const size_t size = sizeof(struct zepi_build_memo) + count * sizeof(struct zepi_key);
    struct zepi_build_memo *memo = zepi_sys_allocate_lines(size);
    if (!memo)
        return NULL;
    memset(memo, 0, size);
    atomic_init(&memo->references, 1);
    memo->values = zepi_spec_values_retain(values);
    bool is_good = set_options(memo, desc);
    for (uint32_t i = 0; i < count && is_good; i++) {
        memo->key_count++;
        is_good = zepi_code_key_init(&memo->keys[i], i, input->images[0], values, &memo->options,
                                     ZEPI_CODE_EXECUTABLE) == ZEPI_SUCCESS;
    }
    if (!is_good) {
        zepi_build_memo_release(memo);
        return NULL;
    }
    return memo;
}

struct zepi_build_memo *zepi_build_memo_of_code(struct zepi_interned *code,
                                                const struct zepi_spec_values *values,
                                                const zepi_build_desc_t *desc,
                                                uint32_t device_count)
{
    struct zepi_build_memo *found = NULL;
    zepi_mutex_lock(&code->memo_mutex);
    for (unsigned i = 0; i < ZEPI_BUILD_MEMOS && !found; i++) {
        if (zepi_build_memo_fits(code->memos[i], values, desc) &&
            code->memos[i]->key_count == device_count)
            found = zepi_build_memo_retain(code->memos[i]);
    }
    zepi_mutex_unlock(&code->memo_mutex);
    return found;
}

struct zepi_spec_values *zepi_build_memo_values_of_code(struct zepi_interned *code, uint32_t count,
                                                        const struct zepi_spec_entry *entries)
{
    struct zepi_spec_values *found = NULL;
    zepi_mutex_lock(&code->memo_mutex);
    for (unsigned i = 0; i < ZEPI_BUILD_MEMOS && !found; i++) {
        if (code->memos[i] && zepi_spec_values_are(code->memos[i]->values, count, entries))
            found = zepi_spec_values_retain(code->memos[i]->values);
    }
    zepi_mutex_unlock(&code->memo_mutex);
    return found;
}

void zepi_build_memo_keep(struct zepi_interned *code, struct zepi_build_memo *memo)
{
    zepi_build_memo_retain(memo);
    zepi_mutex_lock(&code->memo_mutex);
    struct zepi_build_memo **place = &code->memos[code->next_memo++ % ZEPI_BUILD_MEMOS];
    struct zepi_build_memo *old = *place;
    *place = memo;
    zepi_mutex_unlock(&code->memo_mutex);
    zepi_build_memo_release(old);
}

bool zepi_build_memo_note_values(struct zepi_interned *code, struct zepi_spec_values *values)
{
    bool is_known = false;
    struct zepi_spec_values *old = NULL;
    zepi_mutex_lock(&code->memo_mutex);
    for (unsigned i = 0; i < ZEPI_BUILD_MEMOS && !is_known; i++)
        is_known =
            i < code->next_values && zepi_spec_values_are_equal(code->last_values[i], values);
    if (!is_known) {
        struct zepi_spec_values **place =
            &code->last_values[code->next_values++ % ZEPI_BUILD_MEMOS];
        old = *place;
        *place = zepi_spec_values_retain(values);
    }
    zepi_mutex_unlock(&code->memo_mutex);
    zepi_spec_values_release(old);
    return is_known;
}
