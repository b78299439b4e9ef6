// SPDX-License-Identifier: MIT
// Kernels that cost nothing but their launch, or keep a core busy.
__kernel void empty(void)
{
}

__kernel void busy(uint rounds, __global uint *out)
{
    uint value = get_global_id(0) + 1;
    for (uint i = 0; i < rounds; i++)
        value = value * 1664525u + 1013904223u;
    out[get_global_id(0)] = value;
}
