// SPDX-License-Identifier: MIT
// A global variable that kernels change, and the host.
__global int counters[4];

__kernel void count(int by, __global int *now)
{
    counters[2] += by;
    now[0] = counters[2];
}
