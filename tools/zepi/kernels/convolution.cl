// SPDX-License-Identifier: MIT
// A 3x3 convolution whose coefficients are specialization constants 0 to 8, row by row. Neighbours
// outside the image do not count.
float __attribute__((overloadable)) __spirv_SpecConstant(int id, float value);

__kernel void convolution(__global const float *in, __global float *out, int width, int height)
{
    const float coefficients[3][3] = {
        {__spirv_SpecConstant(0, 0.0f), __spirv_SpecConstant(1, 0.0f), __spirv_SpecConstant(2, 0.0f)},
        {__spirv_SpecConstant(3, 0.0f), __spirv_SpecConstant(4, 1.0f), __spirv_SpecConstant(5, 0.0f)},
        {__spirv_SpecConstant(6, 0.0f), __spirv_SpecConstant(7, 0.0f), __spirv_SpecConstant(8, 0.0f)}};
    int x = get_global_id(0);
    int y = get_global_id(1);
    float sum = 0;
    for (int row = -1; row <= 1; row++) {
        for (int column = -1; column <= 1; column++) {
            if (x + column >= 0 && x + column < width && y + row >= 0 && y + row < height)
                sum += coefficients[row + 1][column + 1] * in[(y + row) * width + x + column];
        }
    }
    out[y * width + x] = sum;
}
