// SPDX-License-Identifier: MIT
// Not the same if the inputs are exchanged, or if it is done once more.
__kernel void blend(uint value, __global const uint *a, __global const uint *b, __global uint *out)
{
    size_t i = get_global_id(0);
    out[i] = 3 * a[i] + 5 * b[i] + value;
}
