// SPDX-License-Identifier: MIT
#ifndef ZE_CPU_IMAGE_CHANNELS_H
#define ZE_CPU_IMAGE_CHANNELS_H

#include <level_zero/ze_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Where the channels are in an element that has parts of bytes. In a view they have 16 bits.
struct cpu_image_packing {
    uint8_t bytes; // of an element
    uint8_t shift[4], bits[4];
};

// How an element of an image in memory and the four components that kernels see belong together.
struct cpu_image_channels {
    uint8_t count; // channels in memory
    uint8_t bytes; // of a channel, and of a component
    // The channel that a component reads: R, G, B and A are the first to the fourth.
    uint8_t component[4];
    uint32_t one;                            // the bytes that read as 1
    const struct cpu_image_packing *packing; // NULL: channels are bytes behind bytes
    ze_image_format_type_t type;
};

enum cpu_image_component {
    CPU_COMPONENT_R,
    CPU_COMPONENT_G,
    CPU_COMPONENT_B,
    CPU_COMPONENT_A,
    CPU_COMPONENT_ZERO,
    CPU_COMPONENT_ONE,
};

static inline size_t cpu_image_view_bytes(const struct cpu_image_channels *channels)
{
    return 4u * channels->bytes;
}

static inline size_t cpu_image_element_bytes(const struct cpu_image_channels *channels)
{
    return channels->packing != NULL ? channels->packing->bytes
                                     : (size_t)channels->count * channels->bytes;
}

// Whether some channel is read by no component, so that it cannot be told from the components.
bool cpu_image_channels_are_hidden(const struct cpu_image_channels *channels);

// Whether components say more than the channels do: constants, or one channel twice. Kernels may
// write there what they must not read again.
bool cpu_image_components_repeat(const struct cpu_image_channels *channels);

// Elements of memory as kernels see them.
void cpu_image_to_view(const struct cpu_image_channels *channels, size_t elements,
                       const unsigned char *memory, unsigned char *view);

// Elements as kernels see them, back to elements of memory. Of components that read the same
// channel the first one counts; channels without a component keep their value.
void cpu_image_from_view(const struct cpu_image_channels *channels, size_t elements,
                         const unsigned char *view, unsigned char *memory);

// Gives components that repeat what they have to be.
void cpu_image_settle_view(const struct cpu_image_channels *channels, size_t elements,
                           unsigned char *view);

#endif
