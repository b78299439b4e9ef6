// SPDX-License-Identifier: MIT
// The function of link_base.cl without a global variable.
int __attribute__((overloadable)) __spirv_SpecConstant(int id, int value);

int base(int value)
{
    return value + __spirv_SpecConstant(1, 3);
}
