// SPDX-License-Identifier: MIT
#ifndef ZEPI_COPY_CHECKED_IMAGE_H
#define ZEPI_COPY_CHECKED_IMAGE_H

#include "core/object.h"

// Images, samplers and copies of images as the function table has them: memory/image.h and
// image_copy.h with the checks of zepi.h. Any thread, under no lock.
zepi_result_t zepi_image_create_checked(zepi_context_t context, zepi_device_t device,
                                        const zepi_image_desc_t *desc, zepi_image_t *out_image);
zepi_result_t zepi_image_create_from_native(zepi_context_t context, zepi_device_t device,
                                            const zepi_image_desc_t *desc, void *native_handle,
                                            zepi_ownership_t ownership, zepi_image_t *out_image);
zepi_result_t zepi_image_get_info(zepi_image_t image, zepi_image_info_t *out_info);
zepi_result_t zepi_sampler_create_checked(zepi_context_t context, zepi_device_t device,
                                          const zepi_sampler_desc_t *desc,
                                          zepi_sampler_t *out_sampler);

zepi_result_t zepi_queue_copy_to_image(zepi_queue_t queue, zepi_image_t image,
                                       const zepi_image_region_t *region, const void *memory,
                                       uint32_t row_pitch_bytes, uint32_t slice_pitch_bytes,
                                       zepi_wait_list_t wait, zepi_event_t *out_event);
zepi_result_t zepi_queue_copy_from_image(zepi_queue_t queue, void *memory, uint32_t row_pitch_bytes,
                                         uint32_t slice_pitch_bytes, zepi_image_t image,
                                         const zepi_image_region_t *region, zepi_wait_list_t wait,
                                         zepi_event_t *out_event);
zepi_result_t zepi_queue_copy_image_checked(zepi_queue_t queue, zepi_image_t to,
                                            const uint32_t to_origin[3], zepi_image_t from,
                                            const zepi_image_region_t *from_region,
                                            zepi_wait_list_t wait, zepi_event_t *out_event);

#endif
