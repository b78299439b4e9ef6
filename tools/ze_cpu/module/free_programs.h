// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_FREE_PROGRAMS_H
#define ZE_CPU_FREE_PROGRAMS_H

#include "cache/digest.h"
#include "opencl.h"

// Programs that no module, kernel or launch uses any more, for the next module with the same native
// code: with ZE_CPU_CODE_FOLDER the same modules are made again and again, and the OpenCL runtime
// takes some milliseconds for each. A program with global variables is not kept, since the next
// module would see their values. Any thread.

// A built program of this code, owned by the caller; NULL: there is none.
cl_program cpu_free_program_take(struct zepi_digest code);
// Consumes the program. Zeros as its code: it is released.
void cpu_free_program_give(struct zepi_digest code, cl_program program);

#endif
