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

// The most that a packed channel holds.
static uint32_t most_of(const struct cpu_image_channels *channels, int channel)
{
    return (1u << channels->packing->bits[channel]) - 1;
}

static void unpack(const struct cpu_image_channels *channels, const unsigned char *memory,
                   uint16_t *out_channels)
{
    uint32_t element = 0;
    memcpy(&element, memory, channels->packing->bytes);
    for (int i = 0; i < channels->count; i++) {
        const uint32_t most = most_of(channels, i);
        uint32_t value = element >> channels->packing->shift[i] & most;
        if (channels->packed_as == CPU_PACKED_NORMALIZED)
            value = (value * UINT16_MAX + most / 2) / most;
        else if (channels->packed_as == CPU_PACKED_FLOAT) // as a half, without its sign
            value <<= 15 - channels->packing->bits[i];
        out_channels[i] = (uint16_t)value;
    }
}

static void pack(const struct cpu_image_channels *channels, const uint16_t *from,
                 unsigned char *memory)
{
    uint32_t element = 0;
    for (int i = 0; i < channels->count; i++) {
        const uint32_t most = most_of(channels, i);
        uint32_t value = from[i];
        if (channels->packed_as == CPU_PACKED_NORMALIZED)
            value = (value * most + UINT16_MAX / 2) / UINT16_MAX;
        else if (channels->packed_as == CPU_PACKED_FLOAT)
            value = value & 0x8000 ? 0 : value >> (15 - channels->packing->bits[i]);
        element |= (value < most ? value : most) << channels->packing->shift[i];
    }
    memcpy(memory, &element, channels->packing->bytes);
}

void cpu_image_to_view(const struct cpu_image_channels *channels, size_t elements,
                       const unsigned char *memory, unsigned char *view)
{
    const size_t bytes = channels->bytes;
    uint16_t unpacked[4];
    for (size_t i = 0; i < elements; i++, memory += cpu_image_element_bytes(channels)) {
        if (channels->packing != NULL)
            unpack(channels, memory, unpacked);
        const unsigned char *element =
            channels->packing != NULL ? (const unsigned char *)unpacked : memory;
        for (int j = 0; j < 4; j++, view += bytes) {
            const uint8_t from = channels->component[j];
            if (from < channels->count)
                memcpy(view, element + from * bytes, bytes);
            else if (from == CPU_COMPONENT_ONE)
                memcpy(view, &channels->one, bytes);
            else
                memset(view, 0, bytes);
        }
    }
}

void cpu_image_from_view(const struct cpu_image_channels *channels, size_t elements,
                         const unsigned char *view, unsigned char *memory)
{
    const size_t bytes = channels->bytes;
    uint16_t unpacked[4];
    for (size_t i = 0; i < elements; i++, view += 4 * bytes) {
        if (channels->packing != NULL)
            unpack(channels, memory, unpacked); // of channels that no component stands for
        unsigned char *element = channels->packing != NULL ? (unsigned char *)unpacked : memory;
        for (int j = 3; j >= 0; j--)
            if (channels->component[j] < channels->count)
                memcpy(element + channels->component[j] * bytes, view + (size_t)j * bytes, bytes);
        if (channels->packing != NULL)
            pack(channels, unpacked, memory);
        memory += cpu_image_element_bytes(channels);
    }
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
