// SPDX-License-Identifier: MIT
// Specialization constants of every scalar type that needs no double precision. Ids do not follow the
// order of use, so that a list sorted by id differs from one in the module's order.
bool __attribute__((overloadable)) __spirv_SpecConstant(int id, bool value);
char __attribute__((overloadable)) __spirv_SpecConstant(int id, char value);
short __attribute__((overloadable)) __spirv_SpecConstant(int id, short value);
int __attribute__((overloadable)) __spirv_SpecConstant(int id, int value);
long __attribute__((overloadable)) __spirv_SpecConstant(int id, long value);
float __attribute__((overloadable)) __spirv_SpecConstant(int id, float value);

enum { ID_INT = 7, ID_FLOAT = 3, ID_CHAR = 11, ID_SHORT = 5, ID_LONG = 2, ID_BOOL = 13 };

__kernel void scaled_copy_int(__global const int *in, __global int *out)
{
    size_t i = get_global_id(0);
    out[i] = in[i] * __spirv_SpecConstant(ID_INT, 1);
}

__kernel void scaled_copy_float(__global const float *in, __global float *out)
{
    size_t i = get_global_id(0);
    out[i] = in[i] * __spirv_SpecConstant(ID_FLOAT, 1.0f);
}

// Each element is one constant, as it is seen by the device: char, short, int, long, bool, float's bits.
__kernel void show_constants(__global long *out)
{
    out[0] = __spirv_SpecConstant(ID_CHAR, (char)-1);
    out[1] = __spirv_SpecConstant(ID_SHORT, (short)-2);
    out[2] = __spirv_SpecConstant(ID_INT, 1);
    out[3] = __spirv_SpecConstant(ID_LONG, -4L);
    out[4] = __spirv_SpecConstant(ID_BOOL, (bool)true);
    out[5] = as_int(__spirv_SpecConstant(ID_FLOAT, 1.0f));
}
