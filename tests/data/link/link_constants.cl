// SPDX-License-Identifier: MIT
// Shares the id of its first constant with link_base.cl; the second is its own.
int __attribute__((overloadable)) __spirv_SpecConstant(int id, int value);

extern int base(int value);

__kernel void show_both(__global int *data)
{
    data[0] = __spirv_SpecConstant(1, 40);
    data[1] = __spirv_SpecConstant(2, 50);
    data[2] = base(0);
}
