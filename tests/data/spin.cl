// SPDX-License-Identifier: MIT
// Takes time: for what must be seen while a kernel still runs. (The store in the loop makes it two
// blocks; llvm-spirv 15 puts OpLoopMerge into the wrong place of a loop of one block.)
__kernel void spin(uint rounds, __global uint *out)
{
    uint value = get_global_id(0) + 1;
    for (uint i = 0; i < rounds; i++) {
        value = value * 1664525u + 1013904223u;
        if (value == 0)
            out[get_global_id(0)] = i;
    }
    out[get_global_id(0)] = value;
}
