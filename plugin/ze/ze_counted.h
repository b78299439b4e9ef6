// SPDX-License-Identifier: MIT
#ifndef ZEPI_ZE_ZE_COUNTED_H
#define ZEPI_ZE_ZE_COUNTED_H

// Has the functions of zepi_ze count for ZEPI_STATS, so that a launch or a copy costs nothing more
// where nothing is counted. Called once, after zepi_ze was filled and before any other call.
void zepi_ze_count_calls(void);

#endif
