// SPDX-License-Identifier: MIT
#ifndef ZEPI_MODULE_BUILD_MEMO_H
#define ZEPI_MODULE_BUILD_MEMO_H

#include "module/build_options.h"
#include "module/code.h"
#include "module/spec_values.h"

#include "cache/key.h"

struct zepi_module;

// What is remembered of a build (to executables) that was asked for twice: options in canonical
// form, and the key for each device. A third one goes to the cache at once. Immutable. Of one
// SPIR-V image only: with others, what is built depends on more than the key. Inputs have one, and
// so have the bytes of a plain image, for inputs that are made anew for each build; nothing in it
// is of a context.
struct zepi_build_memo {
    atomic_uint references;
    struct zepi_spec_values *values;   // reference; NULL: none were set
    const char *asked;                 // the options as they were asked for; NULL: none
    zepi_build_flags_t flags;          // those that the code depends on
    struct zepi_build_options options; // without a log callback; to be finished
    uint32_t key_count;                // devices of the context
    struct zepi_key keys[];            // sealed
};

// NULL without memory: then there is none.
struct zepi_build_memo *zepi_build_memo_create(const struct zepi_module *input,
                                               struct zepi_spec_values *values,
                                               const zepi_build_desc_t *desc);
void zepi_build_memo_release(struct zepi_build_memo *memo); // NULL is fine

static inline struct zepi_build_memo *zepi_build_memo_retain(struct zepi_build_memo *memo)
{
    // Relaxed: a reference is made from a reference.
    if (memo)
        atomic_fetch_add_explicit(&memo->references, 1, memory_order_relaxed);
    return memo;
}

// The memo of the bytes that fits, in a context of that many devices: a reference; NULL: none does.
struct zepi_build_memo *zepi_build_memo_of_code(struct zepi_interned *code,
                                                const struct zepi_spec_values *values,
                                                const zepi_build_desc_t *desc,
                                                uint32_t device_count);
// The values of a memo of the bytes if they are these and no others, a reference; else NULL.
struct zepi_spec_values *zepi_build_memo_values_of_code(struct zepi_interned *code, uint32_t count,
                                                        const struct zepi_spec_entry *entries);
// One more memo of the bytes.
void zepi_build_memo_keep(struct zepi_interned *code, struct zepi_build_memo *memo);
// Notes the values of a build without a memo. Whether one of the last few had the same.
bool zepi_build_memo_note_values(struct zepi_interned *code, struct zepi_spec_values *values);

// Whether a build with these values is the one remembered. `desc` may be NULL.
static inline bool zepi_build_memo_fits(const struct zepi_build_memo *memo,
                                        const struct zepi_spec_values *values,
                                        const zepi_build_desc_t *desc)
{
    if (!memo || !zepi_spec_values_are_equal(memo->values, values))
        return false;
    if (!desc || desc->size != sizeof(*desc))
        return !desc && !memo->asked && memo->flags == 0;
    if (desc->device_count > 0 || ((desc->flags ^ memo->flags) & ZEPI_BUILD_DEBUG) ||
        !desc->options != !memo->asked)
        return false;
    return !desc->options || strcmp(desc->options, memo->asked) == 0;
}

#endif
