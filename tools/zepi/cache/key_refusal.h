// SPDX-License-Identifier: MIT
#ifndef ZEPI_TOOL_KEY_REFUSAL_H
#define ZEPI_TOOL_KEY_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Whether a result with this key is native code.
bool key_is_of_code(const uint8_t *key, size_t size);

// Why a device whose own builds have a key like `own_key` would not use a result on the disk with
// the other key, or NULL: keys name device, driver and compiler. Static. Results that are no native
// code are never refused.
const char *key_refusal(const uint8_t *own_key, size_t own_size, const uint8_t *key,
                        size_t key_size);

#endif
