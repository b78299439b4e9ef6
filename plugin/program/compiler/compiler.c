// SPDX-License-Identifier: MIT
#include "program/compiler/compiler.h"

#include "core/alloc.h"
#include "core/log.h"
#include "core/mutex.h"
#include "core/sys.h"
#include "device/compiler_identity.h"
#include "device/platform.h"
#include "program/compiler/compiler_process.h"
#include "program/compiler/request.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define COME_UP_SECONDS 60 // the driver's bring-up

enum slot_state {
    SLOT_FREE,
    SLOT_IDLE,
    SLOT_TAKEN, // by a build, which starts the process if there is none
};

struct slot {
    enum slot_state state;
    struct zepi_compiler_process process;
};

// Guards the states and `owner`. A slot's process is its taker's. Nothing is done under it but the
// end of idle processes, and closing descriptors after a fork.
static struct zepi_mutex mutex;
static struct zepi_condition changed;
static struct slot slots[ZEPI_COMPILER_PROCESSES_MAX];
static _Atomic(pid_t) owner; // of the processes; 0: none was started yet

void zepi_compiled_finish(struct zepi_compiled *compiled)
{
    zepi_free(compiled->log);
    zepi_free(compiled->native);
    *compiled = (struct zepi_compiled){0};
}

// ---- Processes ----

// dlclose, and the end of the process, when builds may be under way: their processes end by
// themselves. A forked child leaves its parent's alone, whose mutex it may have.
__attribute__((destructor)) static void end_idle_processes(void)
{
    int status;
    if (atomic_load_explicit(&owner, memory_order_relaxed) != getpid() ||
        !zepi_mutex_try_lock(&mutex))
        return;
    for (int i = 0; i < ZEPI_COMPILER_PROCESSES_MAX; i++) {
        if (slots[i].state == SLOT_IDLE)
            zepi_compiler_process_end(&slots[i].process, &status);
    }
    zepi_mutex_unlock(&mutex);
}

// The processes of a parent that was forked are not this one's.
static void adopt_locked(void)
{
    const pid_t own = getpid();
    if (atomic_load_explicit(&owner, memory_order_relaxed) == own)
        return;
    for (int i = 0; i < ZEPI_COMPILER_PROCESSES_MAX; i++) {
        if (slots[i].process.id)
            zepi_compiler_process_forget(&slots[i].process);
        slots[i].state = SLOT_FREE;
    }
    atomic_store_explicit(&owner, own, memory_order_relaxed);
}

unsigned zepi_compiler_limit(void)
{
    const long cores = zepi_options()->has_compiler_processes ? sysconf(_SC_NPROCESSORS_ONLN) : 1;
    const long limit = cores < ZEPI_COMPILER_PROCESSES_MAX ? cores : ZEPI_COMPILER_PROCESSES_MAX;
    return limit < 1 ? 1 : (unsigned)limit;
}

// An idle one, else one without a process; NULL: all are taken.
static struct slot *find_slot_locked(unsigned limit)
{
    struct slot *found = NULL;
    for (unsigned i = 0; i < limit; i++) {
        if (slots[i].state == SLOT_IDLE)
            return &slots[i];
        if (slots[i].state == SLOT_FREE && !found)
            found = &slots[i];
    }
    return found;
}

// Of idle processes that have ended by now, an entry in the table of processes and descriptors are
// left.
static void collect_ended_locked(void)
{
    int status;
    for (int i = 0; i < ZEPI_COMPILER_PROCESSES_MAX; i++) {
        if (slots[i].state != SLOT_IDLE || zepi_compiler_process_is_idle(&slots[i].process))
            continue;
        zepi_compiler_process_end(&slots[i].process, &status);
        slots[i].state = SLOT_FREE;
    }
}

static struct slot *take_slot(void)
{
    const unsigned limit = zepi_compiler_limit();
    struct slot *slot;
    zepi_mutex_lock(&mutex);
    adopt_locked();
    collect_ended_locked();
    while (!(slot = find_slot_locked(limit)))
        zepi_condition_wait(&changed, &mutex);
    slot->state = SLOT_TAKEN;
    zepi_mutex_unlock(&mutex);
    return slot;
}

static void give_slot(struct slot *slot)
{
    zepi_mutex_lock(&mutex);
    slot->state = slot->process.id ? SLOT_IDLE : SLOT_FREE;
    zepi_condition_wake_all(&changed);
    zepi_mutex_unlock(&mutex);
}

// ---- Ends ----

// How a process ended, which it is now.
struct end {
    char how[96];
    bool is_from_outside; // it was killed, which says nothing about its work
};

static struct end end_process(struct zepi_compiler_process *process)
{
    struct end end = {"ended, and its host took the news of how", false};
    int status;
    if (!zepi_compiler_process_end(process, &status))
        return end;
    if (WIFSIGNALED(status)) {
        const int signal = WTERMSIG(status);
        const char *name = sigabbrev_np(signal);
        snprintf(end.how, sizeof(end.how), "died of SIG%s (signal %d)", name ? name : "?", signal);
        end.is_from_outside = signal == SIGKILL || signal == SIGTERM;
    } else {
        snprintf(end.how, sizeof(end.how), "ended with exit code %d", WEXITSTATUS(status));
    }
    return end;
}

// The last error, and the compiler's output.
static void log_failure(struct zepi_compiled *compiled, const char *output)
{
    const char *error = zepi_last_error(NULL);
    const size_t size = strlen(error) + strlen(output) + sizeof("\n\n");
    compiled->log = zepi_allocate(size, 1);
    if (compiled->log)
        compiled->log_bytes = (size_t)snprintf(compiled->log, size, "%s\n%s", error, output);
}

static zepi_result_t fail_to_come_up(struct zepi_compiler_process *process,
                                     enum zepi_delivery delivery, struct zepi_compiled *compiled)
{
    char *output = zepi_compiler_process_read_output(process);
    const struct end end = end_process(process);
    zepi_fail(ZEPI_ERROR_COMPILER_UNAVAILABLE,
              "ZEPI_COMPILER=process, but zepi-compiler %s as it came up%s%.*s",
              delivery == ZEPI_DELIVERY_LATE ? "took too long and was stopped" : end.how,
              output ? ": " : "", output ? (int)strcspn(output, "\n") : 0, output ? output : "");
    log_failure(compiled, output ? output : "");
    zepi_free(output);
    return ZEPI_ERROR_COMPILER_UNAVAILABLE;
}

static zepi_result_t fail_without_reply(struct zepi_compiler_process *process,
                                        enum zepi_delivery delivery, const char *name,
                                        struct zepi_compiled *compiled)
{
    char *output = zepi_compiler_process_read_output(process);
    const struct end end = end_process(process);
    zepi_result_t result;
    switch (delivery) {
    case ZEPI_DELIVERY_NO_MEMORY:
        result = zepi_fail_no_memory();
        break;
    case ZEPI_DELIVERY_LATE:
        result = zepi_fail(ZEPI_ERROR_COMPILE_FAILURE,
                           "the compiler was stopped: it had built %s for %llu s "
                           "(ZEPI_COMPILER_SECONDS)",
                           name, (unsigned long long)zepi_options()->compiler_seconds);
        break;
    case ZEPI_DELIVERY_BAD:
        result = zepi_fail(
            ZEPI_ERROR_COMPILE_FAILURE,
            "the compiler's process replied with bytes that cannot be read, after it had built "
            "%s (ZEPI_COMPILER=process)",
            name);
        break;
    default:
        result = zepi_fail(
            end.is_from_outside ? ZEPI_ERROR_COMPILER_UNAVAILABLE : ZEPI_ERROR_COMPILE_FAILURE,
            "the compiler %s while it built %s, in a process of its own (ZEPI_COMPILER=process)",
            end.how, name);
    }
    log_failure(compiled, output ? output : "");
    zepi_free(output);
    return result;
}

// ---- Builds ----

// A process that has come up and waits, in the place of one that has died.
static zepi_result_t provide_process(struct zepi_compiler_process *process,
                                     struct zepi_compiled *compiled)
{
    struct zepi_message greeting = {0};
    char path[PATH_MAX];
    if (process->id && zepi_compiler_process_is_idle(process))
        return ZEPI_SUCCESS;
    if (process->id)
        end_process(process);
    if (!zepi_sys_find_beside("zepi-compiler", path))
        return zepi_fail(ZEPI_ERROR_COMPILER_UNAVAILABLE,
                         "ZEPI_COMPILER=process, but zepi's own library is not found, beside which "
                         "zepi-compiler lies");
    const zepi_result_t result = zepi_compiler_process_start(process, path);
    if (result != ZEPI_SUCCESS) {
        log_failure(compiled, "");
        return result;
    }
    const enum zepi_delivery delivery =
        zepi_message_receive(&greeting, process->socket, zepi_deadline_in(COME_UP_SECONDS));
    zepi_message_finish(&greeting);
    return delivery == ZEPI_DELIVERED ? ZEPI_SUCCESS : fail_to_come_up(process, delivery, compiled);
}

static zepi_result_t use_reply(const struct zepi_device *device,
                               const struct zepi_compiler_reply *reply,
                               struct zepi_compiled *compiled)
{
    if (reply->refusal[0])
        return zepi_fail(ZEPI_ERROR_COMPILER_UNAVAILABLE, "%s", reply->refusal);
    compiled->ze = reply->ze;
    if (reply->log_bytes > 0)
        compiled->log = zepi_duplicate(reply->log, reply->log_bytes);
    compiled->log_bytes = compiled->log ? reply->log_bytes : 0;
    if (reply->native_bytes > 0) {
        compiled->native = zepi_duplicate(reply->native, reply->native_bytes);
        if (!compiled->native)
            return zepi_fail_no_memory();
        compiled->native_bytes = reply->native_bytes;
    }
    if (reply->libraries)
        zepi_compiler_identity_note(device->platform->compiler, reply->libraries);
    return ZEPI_SUCCESS;
}

// ZEPI_DELIVERED: a reply that is not empty, or a failure, in *out_result, to provide a process.
static enum zepi_delivery ask(struct zepi_compiler_process *process,
                              const struct zepi_message *request, struct zepi_compiled *compiled,
                              struct zepi_message *reply, zepi_result_t *out_result)
{
    enum zepi_delivery delivery = ZEPI_DELIVERED;
    while ((*out_result = provide_process(process, compiled)) == ZEPI_SUCCESS) {
        delivery = zepi_compiler_process_ask(
            process, request, zepi_deadline_in(zepi_options()->compiler_seconds), reply);
        if (delivery != ZEPI_DELIVERED || reply->size_bytes > 0)
            break;
        // It had waited for too long, and ended as the request came.
        end_process(process);
    }
    return delivery;
}

static zepi_result_t compile_in(struct zepi_compiler_process *process,
                                const struct zepi_device *device,
                                const struct zepi_message *request, const char *name,
                                struct zepi_compiled *compiled)
{
    struct zepi_message message = {0};
    struct zepi_compiler_reply reply;
    zepi_result_t result;
    enum zepi_delivery delivery = ask(process, request, compiled, &message, &result);
    if (result != ZEPI_SUCCESS)
        return result;
    if (delivery == ZEPI_DELIVERED && !zepi_compiler_reply_take(&message, &reply))
        delivery = ZEPI_DELIVERY_BAD;
    result = delivery == ZEPI_DELIVERED ? use_reply(device, &reply, compiled)
                                        : fail_without_reply(process, delivery, name, compiled);
    zepi_message_finish(&message);
    // The memory of a large build seldom serves the next one.
    if (process->id && zepi_compiler_process_memory_bytes(process) > zepi_options()->compiler_bytes)
        end_process(process);
    return result;
}

zepi_result_t zepi_compiler_compile(const struct zepi_device *device, const ze_module_desc_t *desc,
                                    const char *name, struct zepi_compiled *out_compiled)
{
    struct zepi_message request = {0};
    *out_compiled = (struct zepi_compiled){0};
    zepi_compiler_request_put(&request, device, desc);
    if (request.is_bad) {
        zepi_message_finish(&request);
        return zepi_fail_no_memory();
    }
    struct slot *slot = take_slot();
    const zepi_result_t result = compile_in(&slot->process, device, &request, name, out_compiled);
    give_slot(slot);
    zepi_message_finish(&request);
    if (result != ZEPI_SUCCESS)
        zepi_log(ZEPI_LOG_ERROR, "%s", zepi_last_error(NULL));
    return result;
}
