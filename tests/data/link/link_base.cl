// SPDX-License-Identifier: MIT
// Bottom of the diamond of link_top.cl: a function with a specialization constant, and a global
// variable that others write and read.
int __attribute__((overloadable)) __spirv_SpecConstant(int id, int value);

__global int counter = 7;

int base(int value)
{
    return value + __spirv_SpecConstant(1, 3);
}
