// SPDX-License-Identifier: MIT
// Variables that live as long as the program: one that others may know, one that is the kernels'
// own; and a table that is never written.
__global int total = 100;
static __global int calls;
__constant int steps[2] = {1, 10};

__kernel void add_step(int which, __global int *out)
{
    total += steps[which & 1];
    calls += 1;
    out[0] = total;
    out[1] = calls;
}

__kernel void look(__global int *out)
{
    out[0] = total;
    out[1] = calls;
}
