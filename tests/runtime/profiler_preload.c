// SPDX-License-Identifier: MIT
// Intel's profiler (intel-pti) in a program that knows nothing of it: loaded before the program, it
// prints each kernel, copy and fill that the profiler reports. TEST_PROFILER is its library.
#include <dlfcn.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES ((size_t)1 << 20)

enum { KERNEL = 1, COPY = 8, FILL = 9 };

// A record of a kernel, as the profiler writes it.
struct kernel {
    uint32_t kind;
    void *queue, *context;
    const char *name, *file;
    uint64_t line, id;
    uint32_t correlation, thread;
    uint8_t pci[16], uuid[16];
    uint64_t append_ns, start_ns, end_ns, submit_ns;
};

struct transfer {
    uint32_t kind, memory;
    void *queue, *context;
    const char *name;
};

static struct {
    int (*set_callbacks)(void (*)(void **, size_t *), void (*)(void *, size_t, size_t));
    int (*enable)(int);
    int (*disable)(int);
    int (*flush)(void);
    int (*next)(void *, size_t, void **);
} pti;

static void give_buffer(void **out_buffer, size_t *out_bytes)
{
    *out_buffer = malloc(BUFFER_BYTES);
    *out_bytes = BUFFER_BYTES;
}

static void take_buffer(void *buffer, size_t size_bytes, size_t used_bytes)
{
    void *record = NULL;
    (void)size_bytes;
    while (used_bytes > 0 && pti.next(buffer, used_bytes, &record) == 0) {
        const struct kernel *kernel = record;
        if (kernel->kind == KERNEL) {
            printf("record %s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", kernel->name,
                   kernel->append_ns, kernel->start_ns, kernel->end_ns);
        } else {
            // Of a copy, two more numbers come first.
            const size_t more = kernel->kind == COPY ? 2 * sizeof(uint32_t) : 0;
            const struct transfer *transfer = (const void *)((const char *)record + more);
            printf("record %s\n", transfer->name);
        }
    }
    free(buffer);
}

static void find(void *library, const char *name, void *out_function)
{
    void *symbol = library ? dlsym(library, name) : NULL;
    if (!symbol) {
        fprintf(stderr, "the profiler has no %s: %s\n", name, dlerror());
        exit(1);
    }
    memcpy(out_function, &symbol, sizeof(symbol));
}

__attribute__((constructor)) static void begin(void)
{
    void *library = dlopen(getenv("TEST_PROFILER"), RTLD_NOW | RTLD_GLOBAL);
    find(library, "ptiViewSetCallbacks", &pti.set_callbacks);
    find(library, "ptiViewEnable", &pti.enable);
    find(library, "ptiViewDisable", &pti.disable);
    find(library, "ptiFlushAllViews", &pti.flush);
    find(library, "ptiViewGetNextRecord", &pti.next);
    if (pti.set_callbacks(give_buffer, take_buffer) != 0 || pti.enable(KERNEL) != 0 ||
        pti.enable(COPY) != 0 || pti.enable(FILL) != 0) {
        fputs("the profiler does not start\n", stderr);
        exit(1);
    }
}

__attribute__((destructor)) static void end(void)
{
    pti.disable(KERNEL);
    pti.disable(COPY);
    pti.disable(FILL);
    pti.flush();
    fflush(stdout);
}
