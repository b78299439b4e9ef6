// SPDX-License-Identifier: MIT
#include "program/compiler/serve.h"

int main(int argument_count, char **arguments)
{
    return zepi_compiler_serve(argument_count, arguments);
}
