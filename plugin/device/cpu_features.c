// SPDX-License-Identifier: MIT
#include "device/cpu_features.h"

#include <string.h>

#if defined(__x86_64__)

#include <cpuid.h>

// EBX of leaf 1 numbers the core that runs this: it is left out.
void zepi_cpu_features(uint32_t out_words[ZEPI_CPU_FEATURE_WORDS])
{
    unsigned core;
    uint32_t *at = out_words;
    memset(out_words, 0, ZEPI_CPU_FEATURE_WORDS * sizeof(*out_words));
    __get_cpuid(0, &at[0], &at[1], &at[2], &at[3]);
    __get_cpuid(1, &at[4], &core, &at[5], &at[6]);
    __get_cpuid_count(7, 0, &at[7], &at[8], &at[9], &at[10]);
    __get_cpuid_count(7, 1, &at[11], &at[12], &at[13], &at[14]);
    __get_cpuid(0x80000001, &at[15], &core, &at[16], &at[17]);
    // OSXSAVE: the system tells which registers it saves.
    if (at[5] & (1u << 27))
        __asm__ volatile("xgetbv" : "=a"(at[18]), "=d"(at[19]) : "c"(0));
}

#else

#include <sys/auxv.h>

void zepi_cpu_features(uint32_t out_words[ZEPI_CPU_FEATURE_WORDS])
{
    const unsigned long words[2] = {getauxval(AT_HWCAP), getauxval(AT_HWCAP2)};
    memset(out_words, 0, ZEPI_CPU_FEATURE_WORDS * sizeof(*out_words));
    memcpy(out_words, words, sizeof(words));
}

#endif
