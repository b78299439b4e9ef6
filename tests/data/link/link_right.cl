// SPDX-License-Identifier: MIT
// See link_top.cl.
extern int base(int value);
extern __global int counter;

static __attribute__((noinline)) int helper(int value)
{
    return 100 * value;
}

int right(int value)
{
    return helper(base(value));
}

__kernel void read_counter(__global int *data)
{
    data[get_global_id(0)] = counter;
}
