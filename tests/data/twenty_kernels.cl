// SPDX-License-Identifier: MIT
// Twenty kernels of one program: kernel n adds n.
#define ADD(n)                                                                                     \
    __kernel void add_##n(__global int *data)                                                      \
    {                                                                                              \
        data[get_global_id(0)] += n;                                                               \
    }

ADD(1)
ADD(2)
ADD(3)
ADD(4)
ADD(5)
ADD(6)
ADD(7)
ADD(8)
ADD(9)
ADD(10)
ADD(11)
ADD(12)
ADD(13)
ADD(14)
ADD(15)
ADD(16)
ADD(17)
ADD(18)
ADD(19)
ADD(20)
