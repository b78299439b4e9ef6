// SPDX-License-Identifier: MIT
#include "shared_file.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

static int file = -1;
static pthread_once_t file_once = PTHREAD_ONCE_INIT;
static _Atomic uint64_t next_offset;

static void make_file(void)
{
    const int made = memfd_create("ze_cpu device memory", MFD_CLOEXEC);
    if (made >= 0 && ftruncate(made, (off_t)CPU_SHARED_FILE_BYTES) == 0)
        file = made;
    else if (made >= 0)
        close(made);
}

uint64_t cpu_shared_file_take(size_t bytes)
{
    pthread_once(&file_once, make_file);
    if (file < 0)
        return CPU_NO_FILE;
    // Relaxed: only the number matters.
    return atomic_fetch_add_explicit(&next_offset, bytes, memory_order_relaxed);
}

void cpu_shared_file_give(uint64_t offset, size_t bytes)
{
    fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)bytes);
}

int cpu_shared_file(void)
{
    return file;
}
