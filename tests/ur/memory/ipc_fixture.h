// SPDX-License-Identifier: MIT
//
// Two or three real processes that talk through pipes.
#ifndef ZEPI_TESTS_UR_IPC_FIXTURE_H
#define ZEPI_TESTS_UR_IPC_FIXTURE_H

#include "ur_fixture.h"

#define ITEMS 64
#define IPC_OTHERS 2
#define IPC_FORBIDDEN 9 // exit status: the system lets no process take descriptors of another

#define HANDLE_BYTES 256
struct message {
    size_t size;
    uint8_t handle[HANDLE_BYTES];
    int32_t first; // of the numbers in the memory
};

void ipc_send(const struct message *message);
// False: the other process sends no more.
bool ipc_receive(struct message *out_message);

void ipc_set_up(void);
// Begins a second process, which has its own driver, and sets up this one.
void ipc_set_up_with(void (*role)(void));
// The same with IPC_OTHERS other processes: all of what follows is about the first one, until
// another one is chosen by its number. They come to their end in the order of their numbers.
void ipc_set_up_with_all(void (*role)(void));
void ipc_choose(int number);
// The other process comes to its end, and has this exit status; -1: it crashed.
int ipc_wait(void);
// The same. Skips the test if it was forbidden.
void ipc_join(void);

// ITEMS numbers.
void ipc_fill(void *memory, int32_t first);
bool ipc_has_numbers(const void *memory, int32_t first);

#endif
