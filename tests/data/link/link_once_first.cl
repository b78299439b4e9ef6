// SPDX-License-Identifier: MIT
// Has the same function as link_once_second.cl: as it stands, defined twice. Tests mark it as
// LinkOnceODR, which OpenCL C has no word for.
int shared(int value)
{
    return 7 * value;
}

__kernel void first(__global int *data)
{
    data[0] = shared(data[0]) + 1;
}
