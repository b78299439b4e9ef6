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

// The 16 bits that a view has for the bits of a packed channel.
static uint16_t unpack_channel(ze_image_format_type_t type, uint32_t value, int bits)
{
    const uint32_t most = (1u << bits) - 1;
    const int32_t half = (int32_t)(most >> 1); // the most of a signed number
    const int32_t number = (int32_t)value > half ? (int32_t)(value - most - 1) : (int32_t)value;
    switch (type) {
    case ZE_IMAGE_FORMAT_TYPE_UNORM:
        return (uint16_t)((value * UINT16_MAX + most / 2) / most);
    case ZE_IMAGE_FORMAT_TYPE_FLOAT: // a half without its sign
        return (uint16_t)(value << (15 - bits));
    case ZE_IMAGE_FORMAT_TYPE_SINT:
        return (uint16_t)number;
    case ZE_IMAGE_FORMAT_TYPE_SNORM: // the least number reads as -1, like the one behind it
        return (uint16_t)(number < -half ? INT16_MIN : number * INT16_MAX / half);
    default:
        return (uint16_t)value;
    }
}

static uint32_t pack_channel(ze_image_format_type_t type, uint16_t value, int bits)
{
    const uint32_t most = (1u << bits) - 1;
    const int32_t half = (int32_t)(most >> 1);
    int32_t number = (int16_t)value;
    switch (type) {
    case ZE_IMAGE_FORMAT_TYPE_UNORM:
        return (value * most + UINT16_MAX / 2) / UINT16_MAX;
    case ZE_IMAGE_FORMAT_TYPE_FLOAT:
        return number < 0 ? 0 : (uint32_t)value >> (15 - bits);
    case ZE_IMAGE_FORMAT_TYPE_SINT:
        number = number < -half ? -half - 1 : number > half ? half : number;
        return (uint32_t)number & most;
    case ZE_IMAGE_FORMAT_TYPE_SNORM:
        if (number != INT16_MIN) // rounded
            number = (number * half + (number < 0 ? -1 : 1) * (INT16_MAX / 2)) / INT16_MAX;
        else
            number = -half - 1;
        return (uint32_t)number & most;
    default:
        return value < most ? value : most;
    }
}

static void unpack(const struct cpu_image_channels *channels, const unsigned char *memory,
                   uint16_t *out_channels)
{
    const struct cpu_image_packing *packing = channels->packing;
    uint32_t element = 0;
    memcpy(&element, memory, packing->bytes);
    for (int i = 0; i < channels->count; i++)
        out_channels[i] = unpack_channel(
            channels->type, element >> packing->shift[i] & ((1u << packing->bits[i]) - 1),
            packing->bits[i]);
}

static void pack(const struct cpu_image_channels *channels, const uint16_t *from,
                 unsigned char *memory)
{
    const struct cpu_image_packing *packing = channels->packing;
    uint32_t element = 0;
    for (int i = 0; i < channels->count; i++)
        element |= pack_channel(channels->type, from[i], packing->bits[i]) << packing->shift[i];
    memcpy(memory, &element, packing->bytes);
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
