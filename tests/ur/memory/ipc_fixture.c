// SPDX-License-Identifier: MIT
#include "ipc_fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static struct other {
    pid_t process;
    int in, out;
} others[IPC_OTHERS];
static struct other *other = others;

void ipc_send(const struct message *message)
{
    if (write(other->out, message, sizeof(*message)) != sizeof(*message))
        exit(1);
}

bool ipc_receive(struct message *out_message)
{
    return read(other->in, out_message, sizeof(*out_message)) == sizeof(*out_message);
}

void ipc_set_up(void)
{
    // Where Yama lets only some processes look at others.
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    setenv("ZE_CPU_IPC", "1", 1);
    ur_set_up();
}

void ipc_choose(int number)
{
    other = &others[number];
}

static void begin_other(void (*role)(void))
{
    int there[2], back[2];
    cr_assert(pipe(there) == 0 && pipe(back) == 0);
    fflush(NULL);
    other->process = fork();
    cr_assert(other->process >= 0);
    const bool is_other = other->process == 0;
    other->in = is_other ? there[0] : back[0];
    other->out = is_other ? back[1] : there[1];
    close(is_other ? there[1] : there[0]);
    close(is_other ? back[0] : back[1]);
    if (is_other) {
        ipc_set_up();
        role();
        fflush(NULL);
        _exit(0);
    }
}

void ipc_set_up_with_all(void (*role)(void))
{
    // A process has the pipes of those that began before it, and they end after it.
    for (int i = IPC_OTHERS - 1; i >= 0; i--) {
        ipc_choose(i);
        begin_other(role);
    }
    ipc_set_up();
}

void ipc_set_up_with(void (*role)(void))
{
    begin_other(role);
    ipc_set_up();
}

int ipc_wait(void)
{
    int status;
    close(other->out);
    cr_assert_eq(waitpid(other->process, &status, 0), other->process);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void ipc_join(void)
{
    const int status = ipc_wait();
    if (status == IPC_FORBIDDEN)
        cr_skip_test("the system lets no process take file descriptors of another one");
    cr_assert_eq(status, 0, "the other process fails");
}

void ipc_fill(void *memory, int32_t first)
{
    int32_t numbers[ITEMS];
    for (int i = 0; i < ITEMS; i++)
        numbers[i] = first + i;
    UR_OK(urEnqueueUSMMemcpy(gear.queue, true, memory, numbers, sizeof(numbers), 0, NULL, NULL));
}

bool ipc_has_numbers(const void *memory, int32_t first)
{
    int32_t numbers[ITEMS] = {0};
    UR_OK(urEnqueueUSMMemcpy(gear.queue, true, numbers, memory, sizeof(numbers), 0, NULL, NULL));
    for (int i = 0; i < ITEMS; i++) {
        if (numbers[i] != first + i)
            return false;
    }
    return true;
}
