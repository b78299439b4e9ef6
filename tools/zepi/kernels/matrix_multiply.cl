// SPDX-License-Identifier: MIT
// Blocked product of square matrices. The block's edge is a 64-bit specialization constant that both
// kernels share; a group has an edge of that many work-items, and as much local memory for a block of
// each factor.
long __attribute__((overloadable)) __spirv_SpecConstant(int id, long value);

#define MATRIX_MULTIPLY(TYPE)                                                                      \
    __kernel void matrix_multiply_##TYPE(__global const TYPE *a, __global const TYPE *b,           \
                                         __global TYPE *c, int size, __local TYPE *block_a,        \
                                         __local TYPE *block_b)                                    \
    {                                                                                              \
        const int edge = (int)__spirv_SpecConstant(0, 1L);                                         \
        const int x = get_local_id(0);                                                             \
        const int y = get_local_id(1);                                                             \
        const int column = get_global_id(0);                                                       \
        const int row = get_global_id(1);                                                          \
        TYPE sum = 0;                                                                              \
        for (int first = 0; first < size; first += edge) {                                         \
            block_a[y * edge + x] = a[row * size + first + x];                                     \
            block_b[y * edge + x] = b[(first + y) * size + column];                                \
            barrier(CLK_LOCAL_MEM_FENCE);                                                          \
            for (int i = 0; i < edge; i++)                                                         \
                sum += block_a[y * edge + i] * block_b[i * edge + x];                              \
            barrier(CLK_LOCAL_MEM_FENCE);                                                          \
        }                                                                                          \
        c[row * size + column] = sum;                                                              \
    }

MATRIX_MULTIPLY(float)
MATRIX_MULTIPLY(int)
