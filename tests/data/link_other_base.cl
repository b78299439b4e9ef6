// SPDX-License-Identifier: MIT
// Another definition of what link_base.cl exports.
__global int counter = 8;

int base(int value)
{
    return value - 3;
}
