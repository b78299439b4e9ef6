// SPDX-License-Identifier: MIT
#ifndef ZEPI_PROGRAM_BUILD_BUILD_KEY_H
#define ZEPI_PROGRAM_BUILD_BUILD_KEY_H

#include "cache/key.h"
#include "program/device_image/device_image.h"
#include "program/native/key_tags.h"

// Adds the fields that keys of both levels have for one image.
void zepi_key_add_image(struct zepi_key *key, const struct zepi_device_image *image,
                        const struct zepi_spec_values *values);

#endif
