// SPDX-License-Identifier: MIT
extern __global int shared_counter;
extern int twice(int value);

__kernel void use_twice(__global int *data)
{
    size_t i = get_global_id(0);
    data[i] = twice(data[i]);
}

__kernel void read_counter(__global int *out)
{
    *out = shared_counter;
}
