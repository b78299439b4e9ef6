// SPDX-License-Identifier: MIT
// Defines what importer.cl needs, and a kernel that writes the shared variable.
__global int offset = 100;

int triple(int value)
{
    return 3 * value;
}

__kernel void set_offset(int value)
{
    offset = value;
}
