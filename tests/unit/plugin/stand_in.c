// SPDX-License-Identifier: MIT
// A library that stands in for a driver or a compiler: nothing of it is called.
const int zepi_test_stand_in = STAND_IN;
