// SPDX-License-Identifier: MIT
// See link_mutual_first.cl.
extern int first(int value);
extern __global int first_variable;

__global int second_variable = 2;

int second(int value)
{
    return 10 * first(value);
}

__kernel void back_and_forth(__global int *data)
{
    data[0] = second(data[0]) + second_variable;
    data[1] = first_variable;
}

__kernel void write_first(int value)
{
    first_variable = value;
}
