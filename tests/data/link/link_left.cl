// SPDX-License-Identifier: MIT
// See link_top.cl.
extern int base(int value);
extern __global int counter;

static __attribute__((noinline)) int helper(int value)
{
    return 10 * value;
}

int left(int value)
{
    return helper(base(value));
}

__kernel void write_counter(int value)
{
    counter = value;
}
