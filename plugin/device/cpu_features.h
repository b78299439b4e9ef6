// SPDX-License-Identifier: MIT
#ifndef ZEPI_DEVICE_CPU_FEATURES_H
#define ZEPI_DEVICE_CPU_FEATURES_H

#include <stdint.h>

#define ZEPI_CPU_FEATURE_WORDS 20

// The properties of this processor that decide a compiler's code: vendor, model, instruction sets,
// and the registers that the system saves. The same on every core. Unused words are zero. Any
// thread.
void zepi_cpu_features(uint32_t out_words[ZEPI_CPU_FEATURE_WORDS]);

#endif
