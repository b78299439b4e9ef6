// SPDX-License-Identifier: MIT
// One kernel for each kind of argument: values of several sizes, a struct, a vector, local memory.
struct pair {
    char first;
    long second;
};

__kernel void store_values(char a, short b, int c, long d, float e, int4 f, struct pair g,
                           __global long *out)
{
    out[0] = a;
    out[1] = b;
    out[2] = c;
    out[3] = d;
    out[4] = as_int(e);
    out[5] = f.x + 10 * f.y + 100 * f.z + 1000 * f.w;
    out[6] = g.first;
    out[7] = g.second;
}

// Sum of each work-group's elements, through local memory of one int per work-item.
__kernel void sum_groups(__global const int *in, __local int *scratch, __global int *sums)
{
    size_t item = get_local_id(0);
    scratch[item] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) {
        int sum = 0;
        for (size_t i = 0; i < get_local_size(0); i++)
            sum += scratch[i];
        sums[get_group_id(0)] = sum;
    }
}

// Where each work-item stands: global id, local id, group id, each as x + 100 * y + 10000 * z.
__kernel void store_ids(__global int *out)
{
    size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    size_t i = x + get_global_size(0) * (y + get_global_size(1) * z);
    out[3 * i] = x + 100 * y + 10000 * z;
    out[3 * i + 1] = get_local_id(0) + 100 * get_local_id(1) + 10000 * get_local_id(2);
    out[3 * i + 2] = get_group_id(0) + 100 * get_group_id(1) + 10000 * get_group_id(2);
}

struct wide {
    long values[12];
};

__kernel void sum_wide(struct wide from, __global long *out)
{
    long sum = 0;
    for (int i = 0; i < 12; i++)
        sum += from.values[i];
    out[0] = sum;
}
