// SPDX-License-Identifier: MIT
#include "sycl_support.hpp"

int main(int argc, char **argv)
{
    return story_main(argc, argv);
}
