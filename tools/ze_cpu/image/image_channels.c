// SPDX-License-Identifier: MIT
#include "image_channels.h"

#include <string.h>

#define ELEMENT_BYTES_MAXIMUM 16

// A bit for each channel that some component reads.
static unsigned read_channels(const struct cpu_image_channels *channels)
{
    unsigned bits = 0;
    for (int i = 0; i < 4; i++)
        if (channels->component[i] < channels->count)
            bits |= 1u << channels->component[i];
    return bits;
}

bool cpu_image_channels_are_hidden(const struct cpu_image_channels *channels)
{
    return read_channels(channels) != (1u << channels->count) - 1;
}

bool cpu_image_components_repeat(const struct cpu_image_channels *channels)
{
    return read_channels(channels) != 0xf;
}

void cpu_image_to_view(const struct cpu_image_channels *channels, size_t elements,
                       const unsigned char *memory, unsigned char *view)
{
    const size_t bytes = channels->bytes;
    for (size_t i = 0; i < elements; i++, memory += channels->count * bytes)
        for (int j = 0; j < 4; j++, view += bytes) {
            const uint8_t from = channels->component[j];
            if (from < channels->count)
                memcpy(view, memory + from * bytes, bytes);
            else if (from == CPU_COMPONENT_ONE)
                memcpy(view, &channels->one, bytes);
            else
                memset(view, 0, bytes);
        }
}

void cpu_image_from_view(const struct cpu_image_channels *channels, size_t elements,
                         const unsigned char *view, unsigned char *memory)
{
    const size_t bytes = channels->bytes;
    for (size_t i = 0; i < elements; i++, memory += channels->count * bytes, view += 4 * bytes)
        for (int j = 3; j >= 0; j--)
            if (channels->component[j] < channels->count)
                memcpy(memory + channels->component[j] * bytes, view + (size_t)j * bytes, bytes);
}

void cpu_image_settle_view(const struct cpu_image_channels *channels, size_t elements,
                           unsigned char *view)
{
    unsigned char element[ELEMENT_BYTES_MAXIMUM] = {0};
    for (size_t i = 0; i < elements; i++, view += cpu_image_view_bytes(channels)) {
        cpu_image_from_view(channels, 1, view, element);
        cpu_image_to_view(channels, 1, element, view);
    }
}
