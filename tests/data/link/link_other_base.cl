// SPDX-License-Identifier: MIT
// Another definition of what link_base.cl exports, and a kernel of the same name as link_left.cl's.
__global int counter = 8;

int base(int value)
{
    return value - 3;
}

__kernel void write_counter(int value)
{
    counter = value + 1;
}
