// SPDX-License-Identifier: MIT
// As bench.cl, larger by a table.
int __attribute__((overloadable)) __spirv_SpecConstant(int id, int value);

#define TEN(n) n, n + 7, n + 14, n + 21, n + 28, n + 35, n + 42, n + 49, n + 56, n + 63
#define HUNDRED(n)                                                                                 \
    TEN(n), TEN(n + 70), TEN(n + 140), TEN(n + 210), TEN(n + 280), TEN(n + 350), TEN(n + 420),     \
        TEN(n + 490), TEN(n + 560), TEN(n + 630)

__constant int table[] = {HUNDRED(1000), HUNDRED(2000), HUNDRED(3000), HUNDRED(4000),
                          HUNDRED(5000), HUNDRED(6000), HUNDRED(7000), HUNDRED(8000),
                          HUNDRED(9000), HUNDRED(10000), HUNDRED(11000), HUNDRED(12000)};

__kernel void three(__global int *a, __global int *b, int c)
{
    const size_t at = get_global_id(0);
    a[at] = b[at] + c * __spirv_SpecConstant(0, 1) + table[at % 1200];
}
