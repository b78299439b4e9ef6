// SPDX-License-Identifier: MIT
// What a kernel sees of its launch: arguments of all sizes, local memory, sizes and offset.
struct wide {
    long values[3];
};

__kernel void tell_launch(char a, short b, int c, long d, float4 e, struct wide f,
                          __global const int *in, __local int *scratch, int tells_groups,
                          __global int *out)
{
    size_t x = get_global_id(0) - get_global_offset(0), y = get_global_id(1) - get_global_offset(1);
    size_t item = get_local_id(0) + get_local_size(0) * get_local_id(1);
    int sum = a + 3 * b + 5 * c + 7 * (int)d + 11 * (int)(e.x + 2 * e.y + 3 * e.z + 4 * e.w);
    sum += 13 * (int)(f.values[0] + 2 * f.values[1] + 3 * f.values[2]) + 17 * in[0];
    sum += 19 * (int)get_global_id(0) + 23 * (int)get_global_id(1);
    if (tells_groups)
        sum += 29 * (int)get_local_size(0) + 31 * (int)get_local_size(1);
    scratch[item] = sum;
    out[x + get_global_size(0) * y] = scratch[item];
}
