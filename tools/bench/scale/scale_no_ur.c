// SPDX-License-Identifier: MIT
// In place of scale_ur.c where Unified Runtime's headers are not there.
#include "scale.h"

const struct scale_case scale_ur[] = {{0}};
