// SPDX-License-Identifier: MIT
__global int shared_counter = 100;

int twice(int value)
{
    return 2 * value;
}

__kernel void write_counter(int value)
{
    shared_counter = value;
}
