// SPDX-License-Identifier: MIT
// Imports from link_mutual_second.cl, which imports from here: a chain that goes forth and back.
extern int second(int value);
extern __global int second_variable;

__global int first_variable = 1;

int first(int value)
{
    return value + first_variable;
}

__kernel void forth_and_back(__global int *data)
{
    data[0] = second(data[0]);
    data[1] = second_variable;
}

__kernel void write_second(int value)
{
    second_variable = value;
}
