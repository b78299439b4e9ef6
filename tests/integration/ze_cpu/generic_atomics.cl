// SPDX-License-Identifier: MIT
//
// Atomic loads and stores through pointers that may be of any address space.
static __attribute__((noinline)) int exchange(atomic_int *place, int value)
{
    int before = atomic_load_explicit(place, memory_order_relaxed, memory_scope_device);
    atomic_store_explicit(place, value, memory_order_relaxed, memory_scope_device);
    return before;
}

// Odd numbers change places with -1 in local memory, even ones with what is in global memory.
__kernel void exchange_numbers(__global atomic_int *places, __global int *numbers,
                               __local atomic_int *scratch)
{
    size_t i = get_global_id(0);
    atomic_int *local_place = (atomic_int *)&scratch[get_local_id(0)];
    atomic_int *global_place = (atomic_int *)&places[i];
    exchange(local_place, -1);
    numbers[i] = exchange(numbers[i] & 1 ? local_place : global_place, numbers[i]);
}
