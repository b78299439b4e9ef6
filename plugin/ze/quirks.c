// SPDX-License-Identifier: MIT
#include "ze/quirks.h"

#include "core/log.h"
#include "core/options.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INTEL = 1, ZE_CPU = 2, NULL_DRIVER = 4, OTHERS = 8, ALL = 15 };

// ze_cpu takes the way of a GPU's driver wherever that is right on it, so that tests on it are
// tests of that way.
#define GPU_LIKE (INTEL | ZE_CPU | OTHERS)

#define FIRST_AFTER_22_43 24596 // the last part of that version is 24595, of 26.27 39122

// The UUID of ze_cpu's driver (tools/ze_cpu/driver/driver.h).
static const char ze_cpu_uuid[ZE_MAX_DRIVER_UUID_SIZE] = "zepi-cpu-driver";

// Intel's versions are those of its releases. "Any" are all that zepi was tried on: 22.43 and 26.27
// of Intel's. What was seen once is taken for true until a version is seen to be without.
static const struct zepi_quirk table[] = {
    // ---- With a bit ----
    {"early-copies", ZEPI_QUIRK_EARLY_COPIES, GPU_LIKE, FIRST_AFTER_22_43,
     "26.27; 22.43 has no such copies",
     "a copy from or to memory that is not USM waits for an event of the host's, signalled once it "
     "is appended: 1,200 instructions, and a mapping of that memory; up to 2 MiB are read at once "
     "where nothing is before the copy",
     "zeCommandListAppendMemoryCopy to an immediate list, without wait events, reads a source that "
     "the driver did not allocate while it appends (up to 512 MiB, to USM of any kind, unless the "
     "source was imported or copied from before): what comes before it in the list, and may write "
     "the source, comes too late. To such memory it waits for the copy. Sources of rectangles, of "
     "copies to images and in closed lists are read when they are executed."},
    {"slow-timed-status", ZEPI_QUIRK_SLOW_TIMED_STATUS, GPU_LIKE, FIRST_AFTER_22_43,
     "26.27; 22.43 has no in-order lists",
     "a wait of no time in place of a query, 0.1 microseconds more",
     "zeEventQueryStatus of an event of the counter with times blocks for up to 5 seconds. A wait "
     "that may take no time is over at once, but for waits-for-engine."},
    {"times-stay-on-device", ZEPI_QUIRK_TIMES_STAY_ON_DEVICE, GPU_LIKE, 0, "any",
     "the submitting thread waits where a command waits for such an event",
     "The times of an event, and with them its state, are in memory of the device that signals it: "
     "a list of another root device that waits for the event does not reach them."},
    {"untold-native-format", ZEPI_QUIRK_UNTOLD_NATIVE_FORMAT, INTEL, 0, "any",
     "none, but not true of every driver",
     "Native code is taken, and no format is told for it (nativeKernelSupported is zero)."},
    {"untold-asserts", ZEPI_QUIRK_UNTOLD_ASSERTS, INTEL, FIRST_AFTER_22_43, "26.27",
     "none, but not true of every driver",
     "Failed assertions of kernels end the program, and Level Zero has no query for that."},
    {"processor-copies", ZEPI_QUIRK_PROCESSOR_COPIES, INTEL, FIRST_AFTER_22_43, "26.27",
     "the submitting thread waits for all that comes before such a copy",
     "zeCommandListAppendMemoryCopy to an immediate list waits for the wait list and the list, and "
     "copies by the processor, between memory that the driver did not allocate and memory of a "
     "device with memory of its own, which the driver does not compress: up to 4 MiB to the device "
     "(10 from Xe2 on), 1 KiB from it (64). Compressed is memory of Xe2 and later, in contexts of "
     "one root device, that no other interface may have; variables of modules never are."},
    {"kept-host-pages", ZEPI_QUIRK_KEPT_HOST_PAGES, INTEL, 0, "up to 26.31",
     "memory of the host is not registered",
     "Registered pages of the host stay USM after zeMemFree, for the next allocation."},
    {"waits-for-engine", ZEPI_QUIRK_WAITS_FOR_ENGINE, INTEL, FIRST_AFTER_22_43,
     "26.27, of integrated GPUs and Arc A",
     "barriers, and no events of the counter, in queues with profiling on such devices",
     "zeEventHostSynchronize, of a complete event of the counter, writes caches back behind all "
     "that the engine was given, and waits for that, whatever its timeout is: a wait for an event "
     "takes as long as later commands, and does not end while one of them waits for the thread "
     "that waits. With times, the query of the status is no way out (slow-timed-status)."},

    // ---- Lists and events, avoided everywhere ----
    {"reset-writes-to-list", 0, INTEL, 0, "any", "a reference to the list for each such event",
     "A reset of an event, or the first query that finds it complete, writes to the list that "
     "signalled it last, even if that was destroyed."},
    {"reset-stays-complete", 0, INTEL, 0, "26.27", "an event made anew",
     "An event that an in-order list signalled is still complete after a reset."},
    {"host-signal-refused", 0, INTEL, 0, "26.27", "a kind of events for the host alone",
     "An event that an in-order list signalled stays one of the counter when it is reset: the host "
     "can neither signal it nor wait for it."},
    {"timed-waits-read-times", 0, INTEL, 0, "26.27", "such events are used again later",
     "A wait for an event of the counter with times reads the memory of the times, not the counter "
     "alone: the event cannot be used again while a command waits."},
    {"hasty-synchronize", 0, INTEL, 0, "26.27",
     "a barrier with an event a list in a wait for a queue: 240 instructions, with the driver's",
     "zeCommandListHostSynchronize reads the list's counter and the engine's progress one after "
     "the other: beside an append of another thread it takes the command that is being appended "
     "for complete, and the wait for that command's event ends at once."},
    {"host-function-signals", 0, INTEL, 0, "26.27", "two barriers a function of the host",
     "zeCommandListAppendHostFunction with an event with times crashes."},
    {"uncounted-copies", 0, INTEL, 0, "26.27, of Lunar Lake",
     "events of the counter for copies of buffers, too",
     "A copy or fill in an in-order list that is one kernel, with an event that is not of the "
     "counter, writes the next number of the list's counter and does not count it: the command "
     "behind it has the same number, and its event is complete before it has begun."},
    {"tiles-run-ahead", 0, INTEL, 0, "26.27, on two tiles",
     "barriers in queues with profiling on devices of several tiles",
     "In an in-order list, what comes behind a kernel with times, and an event of the counter, "
     "waits on each tile for that tile's part of the kernel alone: the tile that is done first "
     "goes on, and may read what others have yet to write."},
    {"copies-without-hint", 0, INTEL, 0, "26.27", "none",
     "Copies and fills are slow in lists without the hint that another engine may do them."},
    {"empty-copies", 0, INTEL, 0, "26.27", "none", "A copy of 0 bytes never signals its event."},
    {"hasty-release", 0, INTEL, 0, "26.27", "that of early-copies",
     "Memory that the driver did not allocate is mapped for a copy, and released by any thread "
     "that sees an event or a list complete, once the copy is: also while the thread that appends "
     "the copy still uses its record of the mapping, which corrupts the heap. A copy cannot "
     "complete before it is appended if it waits for an event that is signalled after that."},
    {"forgotten-rectangles", 0, INTEL, 0, "26.27", "that of early-copies, and a barrier",
     "A rectangle, or an image, that the copy engine copies in an in-order list, after a kernel "
     "with times (on some products also without an event): its memory is counted as used by the "
     "signal that the list submits first for that kernel, not by the copy, and mappings of memory "
     "that the driver did not allocate go while the copy waits. After a barrier there is no such "
     "signal."},
    {"forgotten-slices", 0, INTEL, 0, "26.27", "none",
     "A rectangle of one slice that is not the first, in memory that the driver did not allocate: "
     "pages are mapped as if it were the first, and the copy is a page fault of the GPU."},
    {"output-at-synchronize", 0, INTEL, 0, "any", "a call behind a wait for a queue",
     "What kernels printed appears, and failed commands are told of, when a list is synchronized."},
    {"foreign-events-refused", 0, INTEL, 0, "any", "the submitting thread waits then",
     "A list refuses to wait for an event of another context whose pool has no memory there."},

    // ---- Recorded lists, avoided everywhere ----
    {"submission-writes-to-list", 0, INTEL, 0, "any", "a recording for each execution under way",
     "A closed list gets its way back written into its end as it is submitted: it can be in flight "
     "once at a time."},
    {"submission-clears-counter", 0, INTEL, 0, "26.27", "barriers in recorded lists",
     "The counter of a closed in-order list is cleared by the host as the list is submitted."},
    {"mutable-refuses-implicit", 0, INTEL, 0, "26.27", "such graphs are recorded anew",
     "Mutable lists refuse kernels with implicit arguments, as printf makes them."},
    {"launch-memory-in-kernel", 0, INTEL, 0, "any", "a kernel instance a recording",
     "Memory of a recorded launch stays with its ze_kernel."},

    // ---- Kernels, avoided everywhere ----
    {"kept-argument-allocation", 0, ALL, 0, "any", "addresses are set again after a free",
     "The allocation behind an address that was set as an argument is kept: the same address in "
     "other memory has to be set again."},
    {"dear-launch-with-arguments", 0, INTEL, 0, "26.27", "none",
     "zeCommandListAppendLaunchKernelWithArguments takes longer than to set what differs."},
    {"unknown-structure-hangs", 0, INTEL, 0, "22.43", "none",
     "zeKernelGetProperties hangs in a chain with a structure that the driver does not know."},
    {"structures-passed-over", 0, ALL, 0, "any", "none",
     "A chain of properties, or a part of it, is left as it was."},
    {"native-sizes-in-words", 0, INTEL, 0, "26.27", "none",
     "The size of an argument of native code is told in whole words of four bytes."},
    {"local-excess-unnoticed", 0, ALL, 0, "any", "a sum for launches with local memory",
     "More local memory than there is is noticed when the kernel runs, if at all."},
    {"useless-suggestions", 0, NULL_DRIVER | OTHERS, 0, "any", "none",
     "A suggested group size is 0, or does not divide the global size."},

    // ---- Modules, avoided everywhere ----
    {"failed-builds-succeed", 0, ALL, 0, "22.43", "the names of a new module's kernels are asked",
     "zeModuleCreate succeeds for a build whose log says that it failed; kernels are missing."},
    {"exports-need-options", 0, INTEL, 0, "any", "options for objects with exports",
     "Functions and variables of a module are offered to no other one unless it was built with "
     "-library-compilation -ze-take-global-address."},
    {"names-need-options", 0, INTEL, 0, "26.27", "none",
     "A module that was built without -ze-take-global-address refuses the query of any name but "
     "those that SYCL gives to variables."},
    {"hidden-kernel", 0, INTEL, 0, "any", "none",
     "A module that takes global addresses lists a kernel that is none."},
    {"untold-symbol-kinds", 0, ALL, 0, "any", "none",
     "zeModuleInspectLinkageExt does not say which symbols are functions."},
    {"untold-imports", 0, INTEL, 0, "22.43", "a table of symbols beside native code",
     "There is no query for the imports and exports of native code."},
    {"truncated-modules", 0, ALL, 0, "any", "a walk over new SPIR-V",
     "Truncated SPIR-V ends the process, or is built successfully."},

    // ---- Devices, avoided everywhere ----
    {"private-version", 0, INTEL, 0, "26.27", "none",
     "The driver's own number is told by a function of its own, not by its properties."},
    {"uuid-of-the-hour", 0, INTEL, 0, "22.43", "none", "The driver's UUID changes with the clock."},
    {"four-gigabytes", 0, INTEL, 0, "any", "ZEPI_LARGE_ALLOCATIONS, off by default",
     "Larger allocations are given under a relaxed limit, and code reads them wrong unless it was "
     "compiled for them."},
    {"no-queue-group", 0, NULL_DRIVER, 0, "any", "none",
     "No group of queues is described, or one without queues; queue 0 of group 0 is there."},
    {"own-sub-device", 0, NULL_DRIVER, 0, "any", "none",
     "A device is its own sub-device, without end."},
    {"no-limits", 0, NULL_DRIVER, 0, "any", "none",
     "Limits of group sizes and local memory are 0."},

    // ---- Memory, avoided everywhere ----
    {"sizes-end-process", 0, INTEL, 0, "26.27", "none",
     "Images beyond the device's limits, physical memory beyond the device's, and a query of the "
     "page size for a size that does not fit 64 bits when it is rounded up end the process."},
    {"sizes-round-to-zero", 0, INTEL, 0, "26.27", "none",
     "Addresses are reserved for a size that rounding up makes 0."},
    {"empty-page-query", 0, OTHERS, 0, "any", "none", "The page size for 0 bytes is refused."},
    {"mapped-memory-stays", 0, ALL, 0, "any", "none", "Physical memory that is mapped stays."},
    {"alignment-refused", 0, OTHERS, 0, "any", "none",
     "An allocation with an alignment of its size class is refused."},
    {"frees-wait", 0, INTEL, 0, "26.27", "none: a call that frees memory may wait",
     "zeMemFree waits for later commands as well, if their kernels may reach any memory. With the "
     "policy DEFER_FREE it does not, but the list of what is left then is walked without a lock by "
     "every allocation and free."},
    {"second-free-taken", 0, INTEL, 0, "26.27, of Lunar Lake", "none",
     "A second zeMemFree of shared memory is a success while the driver keeps the memory for its "
     "next allocation."},
    {"no-put-of-handles", 0, INTEL, 0, "22.43", "none",
     "What an IPC handle needs is kept until its memory is freed."},
    {"one-base-of-openings", 0, INTEL, 0, "26.27", "none",
     "A second opening of an IPC handle has the same address, and one close ends both."},
    {"import-keeps-descriptor", 0, INTEL, 0, "any", "a copy of the descriptor",
     "An imported descriptor is closed by the driver since 26, and was never before."},
    {"import-takes-all", 0, INTEL, 0, "26.27", "none",
     "An import has the size of the memory, whatever size was asked for."},
    {"one-descriptor-of-exports", 0, INTEL, 0, "26.27", "a copy of the descriptor",
     "All exports of an allocation are one descriptor, which zeMemFree closes."},

    // ---- The library ----
    {"threads-stay", 0, ALL, 0, "any", "the loader stays open",
     "Threads and handlers of the process' end stay after the last handle."},
    {"symbols-without-function", 0, ALL, 0, "any", "none",
     "New loaders export functions that old drivers refuse, and old drivers accept flags that they "
     "do not know."},
    {"semaphores-refused", 0, INTEL, 0, "26.27, without a GPU", "none: zepi imports none",
     "The extension for semaphores of other interfaces is there, and every import is refused with "
     "UNSUPPORTED_FEATURE."},
    {"unshared-events", 0, INTEL, 0, "26.27", "none: zepi shares none",
     "zexCounterBasedEventOpenIpcHandle shares no state: a signal of the opened event does not "
     "reach the other one, and an event that was never signalled has no status."},
};

const struct zepi_quirk *zepi_quirk_at(uint32_t index)
{
    return index < sizeof(table) / sizeof(table[0]) ? &table[index] : NULL;
}

uint32_t zepi_quirks_find(const char *driver, uint32_t build)
{
    const uint32_t known = strcmp(driver, "Intel") == 0    ? INTEL
                           : strcmp(driver, "ze_cpu") == 0 ? ZE_CPU
                                                           : OTHERS;
    uint32_t bits = 0;
    const struct zepi_quirk *quirk;
    for (uint32_t i = 0; (quirk = zepi_quirk_at(i)) != NULL; i++) {
        if (quirk->drivers & known && (known != INTEL || build >= quirk->first_build))
            bits |= quirk->bit;
    }
    return bits;
}

// The quirk with a bit that has the name; NULL: none.
static const struct zepi_quirk *find_quirk_with_bit(const char *name, size_t length)
{
    const struct zepi_quirk *quirk;
    for (uint32_t i = 0; (quirk = zepi_quirk_at(i)) != NULL && quirk->bit; i++) {
        if (strlen(quirk->name) == length && memcmp(quirk->name, name, length) == 0)
            return quirk;
    }
    return NULL;
}

// The names of quirks, separated by commas.
static void write_names(uint32_t bits, char *text, size_t size)
{
    const struct zepi_quirk *quirk;
    text[0] = '\0';
    for (uint32_t i = 0; (quirk = zepi_quirk_at(i)) != NULL; i++) {
        const size_t length = strlen(text);
        if (quirk->bit & bits)
            snprintf(text + length, size - length, "%s%s", length > 0 ? "," : "", quirk->name);
    }
}

static zepi_result_t fail_unknown(const char *name, size_t length)
{
    static bool is_told; // under the lock of the bring-up
    char names[sizeof(((struct zepi_quirks *)NULL)->names)];
    write_names(UINT32_MAX, names, sizeof(names));
    zepi_fail(
        ZEPI_ERROR_INVALID_VALUE,
        "ZEPI_QUIRKS has '%.*s': expected none, all, or names, with '-' before those that are "
        "left out, of %s",
        (int)length, name, names);
    if (!is_told)
        fprintf(stderr, "zepi: %s\n", zepi_last_error(NULL));
    is_told = true;
    return ZEPI_ERROR_INVALID_VALUE;
}

zepi_result_t zepi_quirks_force(const char *text, uint32_t *bits)
{
    uint32_t forced = *bits;
    while (*text) {
        const size_t length = strcspn(text, ",");
        const bool leaves_out = text[0] == '-';
        const struct zepi_quirk *quirk =
            find_quirk_with_bit(text + leaves_out, length - leaves_out);
        if (length == 4 && memcmp(text, "none", length) == 0)
            forced = 0;
        else if (length == 3 && memcmp(text, "all", length) == 0)
            forced = UINT32_MAX;
        else if (!quirk)
            return fail_unknown(text, length);
        else
            forced = leaves_out ? forced & ~quirk->bit : forced | quirk->bit;
        text += length + (text[length] == ',');
    }
    *bits = forced;
    return ZEPI_SUCCESS;
}

zepi_result_t zepi_quirks_choose(const ze_driver_properties_t *properties,
                                 const struct zepi_ze_optional *optional,
                                 struct zepi_quirks *out_quirks)
{
    struct zepi_quirks quirks = {
        .is_on_cpu = memcmp(properties->uuid.id, ze_cpu_uuid, sizeof(ze_cpu_uuid)) == 0};
    // No query tells a driver's name. All of Intel's have this function.
    const char *name = quirks.is_on_cpu ? "ze_cpu" : optional->import_host_pointer ? "Intel" : "";
    quirks.bits = zepi_quirks_find(name, properties->driverVersion & 0xffff);
    const zepi_result_t result = zepi_quirks_force(zepi_options()->quirks, &quirks.bits);
    if (result != ZEPI_SUCCESS)
        return result;
    write_names(quirks.bits, quirks.names, sizeof(quirks.names));
    const struct zepi_quirk *quirk;
    for (uint32_t i = 0; (quirk = zepi_quirk_at(i)) != NULL; i++) {
        if (quirk->bit & quirks.bits)
            zepi_log(ZEPI_LOG_DEBUG, "quirk %s (%s): %s Price: %s.", quirk->name, quirk->versions,
                     quirk->seen, quirk->price);
    }
    *out_quirks = quirks;
    return ZEPI_SUCCESS;
}

// The reason of one library, which Level Zero's loader has opened in vain, or did not find.
static const char *explain_driver(const char *path)
{
    const char *(*get_runtime)(const char **) = NULL;
    const char *reason = "it finds no device";
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return dlerror();
    void *symbol = dlsym(library, "zeCpuGetRuntime");
    memcpy(&get_runtime, &symbol, sizeof(symbol));
    if (get_runtime)
        get_runtime(&reason);
    // Stays open: the text is the library's.
    return reason;
}

void zepi_quirks_explain_no_driver(char *text, size_t size)
{
    const char *names = secure_getenv("ZE_ENABLE_ALT_DRIVERS");
    if (!names || !names[0]) {
        snprintf(text, size,
                 "install the GPU's (libze-intel-gpu1 or intel-opencl-icd), or let "
                 "ZE_ENABLE_ALT_DRIVERS name libze_cpu.so.1, which executes on the CPU");
        return;
    }
    for (size_t length = 0; *names && length < size;) {
        char path[PATH_MAX];
        const size_t name_length = strcspn(names, ",");
        snprintf(path, sizeof(path), "%.*s", (int)name_length, names);
        const char *reason = explain_driver(path);
        // The dynamic loader's begins with the path.
        const bool has_path = strncmp(reason, path, strlen(path)) == 0;
        length += (size_t)snprintf(text + length, size - length, "%s%s%s%s", length ? "; " : "",
                                   has_path ? "" : path, has_path ? "" : ": ", reason);
        names += name_length + (names[name_length] == ',');
    }
}
