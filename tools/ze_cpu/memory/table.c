// SPDX-License-Identifier: MIT
#include "table.h"

#include "device/device.h"
#include "options.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// Guards the variables below; under it the process' mappings are changed, so that both agree.
static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static struct cpu_allocation *table; // owned, ascending by address
static size_t table_count;
static size_t table_capacity;
static uint32_t running[CPU_DEVICE_MAXIMUM]; // commands on each root device and its parts
static uint32_t running_total;

// Index of the first allocation above `address`.
static size_t upper_bound_locked(uintptr_t address)
{
    size_t low = 0;
    size_t high = table_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct cpu_allocation *cpu_memory_from_locked(uintptr_t address)
{
    size_t index = upper_bound_locked(address);
    if (index > 0 && address - table[index - 1].address < table[index - 1].size_bytes)
        index--;
    return index < table_count ? &table[index] : NULL;
}

struct cpu_allocation *cpu_memory_next_locked(struct cpu_allocation *allocation)
{
    return allocation + 1 < table + table_count ? allocation + 1 : NULL;
}

static struct cpu_allocation *find_locked(const void *pointer)
{
    struct cpu_allocation *found = cpu_memory_from_locked((uintptr_t)pointer);
    return found != NULL && found->address <= (uintptr_t)pointer ? found : NULL;
}

bool cpu_memory_insert_locked(const struct cpu_allocation *allocation)
{
    const struct cpu_allocation copy = *allocation; // which may lie in the table
    if (table_count == table_capacity) {
        size_t capacity = table_capacity != 0 ? table_capacity * 2 : 32;
        struct cpu_allocation *grown = realloc(table, capacity * sizeof(*grown));
        if (grown == NULL)
            return false;
        table = grown;
        table_capacity = capacity;
    }
    size_t index = upper_bound_locked(copy.address);
    memmove(&table[index + 1], &table[index], (table_count - index) * sizeof(table[0]));
    table[index] = copy;
    table_count++;
    return true;
}

void cpu_memory_remove_locked(struct cpu_allocation *allocation)
{
    const size_t behind = table_count - (size_t)(allocation - table) - 1;
    memmove(allocation, allocation + 1, behind * sizeof(table[0]));
    table_count--;
    if (table_count == 0) {
        free(table);
        table = NULL;
        table_capacity = 0;
    }
}

void cpu_memory_lock(void)
{
    pthread_rwlock_wrlock(&table_lock);
}

void cpu_memory_unlock(void)
{
    pthread_rwlock_unlock(&table_lock);
}

// Whether commands run that may use the device's memory. That of no device is the host's: always.
static bool is_open_locked(ze_device_handle_t device)
{
    if (device == NULL || cpu_options()->is_integrated)
        return true;
    return (cpu_options()->has_peers ? running_total : running[cpu_device_root(device)->index]) > 0;
}

int cpu_memory_rights_locked(const struct cpu_allocation *allocation)
{
    if (allocation->type == ZE_MEMORY_TYPE_DEVICE && !is_open_locked(allocation->device))
        return PROT_NONE;
    switch (allocation->access) {
    case ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE:
        return PROT_READ | PROT_WRITE;
    case ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY:
        return PROT_READ;
    default:
        return PROT_NONE;
    }
}

static void apply_rights_locked(void)
{
    for (size_t i = 0; i < table_count; i++)
        if (table[i].type == ZE_MEMORY_TYPE_DEVICE)
            mprotect((void *)table[i].address, table[i].mapped_bytes,
                     cpu_memory_rights_locked(&table[i]));
}

void cpu_memory_begin_access(ze_device_handle_t device)
{
    cpu_memory_lock();
    const bool was_open = is_open_locked(device);
    running[cpu_device_root(device)->index]++;
    running_total++;
    if (!was_open)
        apply_rights_locked();
    cpu_memory_unlock();
}

void cpu_memory_end_access(ze_device_handle_t device)
{
    cpu_memory_lock();
    running[cpu_device_root(device)->index]--;
    running_total--;
    if (!is_open_locked(device))
        apply_rights_locked();
    cpu_memory_unlock();
}

bool cpu_memory_insert(const struct cpu_allocation *allocation)
{
    cpu_memory_lock();
    const int rights = cpu_memory_rights_locked(allocation);
    const bool is_inserted =
        (rights == (PROT_READ | PROT_WRITE) ||
         mprotect((void *)allocation->address, allocation->mapped_bytes, rights) == 0) &&
        cpu_memory_insert_locked(allocation);
    cpu_memory_unlock();
    return is_inserted;
}

bool cpu_memory_erase(const void *pointer, bool is_imported, struct cpu_allocation *out_erased)
{
    cpu_memory_lock();
    struct cpu_allocation *found = find_locked(pointer);
    const bool is_found = found != NULL && found->address == (uintptr_t)pointer &&
                          found->origin != CPU_MAPPED &&
                          (found->origin == CPU_IMPORTED) == is_imported;
    if (is_found) {
        *out_erased = *found;
        cpu_memory_remove_locked(found);
    }
    cpu_memory_unlock();
    return is_found;
}

bool cpu_memory_find(const void *pointer, struct cpu_allocation *out_allocation)
{
    pthread_rwlock_rdlock(&table_lock);
    const struct cpu_allocation *found = find_locked(pointer);
    if (found != NULL)
        *out_allocation = *found;
    pthread_rwlock_unlock(&table_lock);
    return found != NULL;
}

bool cpu_memory_overlaps(uintptr_t start, size_t size)
{
    pthread_rwlock_rdlock(&table_lock);
    const size_t index = upper_bound_locked(start + size - 1);
    const bool does = index > 0 && start < table[index - 1].address + table[index - 1].size_bytes;
    pthread_rwlock_unlock(&table_lock);
    return does;
}

uint64_t cpu_memory_live(uint64_t *out_bytes)
{
    uint64_t count = 0;
    *out_bytes = 0;
    pthread_rwlock_rdlock(&table_lock);
    for (size_t i = 0; i < table_count; i++) {
        count += table[i].origin != CPU_MAPPED;
        *out_bytes += table[i].origin != CPU_MAPPED ? table[i].size_bytes : 0;
    }
    pthread_rwlock_unlock(&table_lock);
    return count;
}
