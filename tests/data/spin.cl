// SPDX-License-Identifier: MIT
// Takes time: for what must be seen while a kernel still runs.
__kernel void spin(uint rounds, __global uint *out)
{
    uint value = get_global_id(0) + 1;
    for (uint i = 0; i < rounds; i++)
        value = value * 1664525u + 1013904223u;
    out[get_global_id(0)] = value;
}
