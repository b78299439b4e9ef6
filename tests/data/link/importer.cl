// SPDX-License-Identifier: MIT
// Needs exporter.cl: a function and a global variable.
extern int triple(int value);
extern __global int offset;

__kernel void triple_and_offset(__global int *data)
{
    size_t i = get_global_id(0);
    data[i] = triple(data[i]) + offset;
}
