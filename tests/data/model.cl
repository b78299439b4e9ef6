// SPDX-License-Identifier: MIT
// What the model test launches: results depend on the sizes that a kernel sees, if `marks` is 1.
int __attribute__((overloadable)) __spirv_SpecConstant(int id, int value);

static uint item(void)
{
    return (uint)(get_global_id(0) - get_global_offset(0) +
                  get_global_size(0) * (get_global_id(1) - get_global_offset(1)));
}

static uint sizes(uint marks)
{
    return marks * (1000003u * (uint)get_local_size(0) + 10007u * (uint)get_local_size(1) +
                    101u * (uint)get_global_offset(0) + (uint)get_num_groups(0));
}

__kernel void blend(uint value, uint marks, uint at_a, uint at_b, uint at, __global const uint *a,
                    __global const uint *b, __global uint *out)
{
    out[at + item()] = 3 * a[at_a + item()] + 5 * b[at_b + item()] + value + sizes(marks);
}

__kernel void stamp(uint value, uint marks, uint at, __global uint *out)
{
    out[at + item()] = value + item() + sizes(marks);
}

__kernel void scale(uint at_a, uint at, __global const uint *a, __global uint *out)
{
    out[at + item()] = a[at_a + item()] * (uint)__spirv_SpecConstant(7, 1);
}
