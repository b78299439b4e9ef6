// SPDX-License-Identifier: MIT
// What a launch may ask for: offsets, group sizes, pointers in all guises.

// Every work-item counts itself, at its place from the offset on.
__kernel void count_items(__global int *counts)
{
    size_t x = get_global_id(0) - get_global_offset(0);
    size_t y = get_global_id(1) - get_global_offset(1);
    size_t z = get_global_id(2) - get_global_offset(2);
    counts[x + get_global_size(0) * (y + get_global_size(1) * z)] += 1;
}

// The first and the last work-item note their global ids, the first one also the group size.
__kernel void note_ends(__global int *out)
{
    bool is_first = true, is_last = true;
    for (uint i = 0; i < 3; i++) {
        is_first = is_first && get_group_id(i) == 0 && get_local_id(i) == 0;
        is_last = is_last && get_group_id(i) == get_num_groups(i) - 1 &&
                  get_local_id(i) == get_local_size(i) - 1;
    }
    for (uint i = 0; i < 3; i++) {
        if (is_first) {
            out[i] = get_global_id(i);
            out[6 + i] = get_local_size(i);
        }
        if (is_last)
            out[3 + i] = get_global_id(i);
    }
}

// The last work-item of a row notes its global id and the group size.
__kernel void note_last(__global ulong *out)
{
    if (get_global_id(0) == get_global_size(0) - 1) {
        out[0] = get_global_id(0);
        out[1] = get_local_size(0);
    }
}

__kernel __attribute__((reqd_work_group_size(8, 4, 1))) void needs_8_by_4(__global int *counts)
{
    counts[get_global_id(0) + get_global_size(0) * get_global_id(1)] += 1;
}

// Whether pointers are NULL.
__kernel void find_null(__global const int *a, __constant int *b, __global int *out)
{
    out[0] = a == 0;
    out[1] = b == 0;
}

// The address of memory is in memory, and in a value.
__kernel void follow_pointers(__global const ulong *addresses, ulong address)
{
    ((__global int *)addresses[0])[0] += 1;
    ((__global int *)address)[1] += 1;
}

// A group's local memory, static and from the launch, of which nothing is shared between groups.
__kernel void use_local(__local int *own, int length, __global int *sums)
{
    __local int fixed[64];
    size_t item = get_local_id(0);
    for (size_t i = item; i < length; i += get_local_size(0))
        own[i] = i;
    fixed[item] = 1000 * item;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) {
        int sum = fixed[get_local_size(0) - 1];
        for (int i = 0; i < length; i++)
            sum += own[i];
        sums[get_group_id(0)] = sum;
    }
}

// A structure of several words by value.
struct words {
    long words[4];
};

__kernel void store_words(struct words in, __global long *out)
{
    for (int i = 0; i < 4; i++)
        out[i] = in.words[i];
}
