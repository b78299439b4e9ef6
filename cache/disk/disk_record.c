// SPDX-License-Identifier: MIT
#include "cache/disk/disk_record.h"

#include <assert.h>
#include <string.h>

// Offsets in the head; the checksum is over everything but itself.
enum {
    AT_MAGIC = 0,
    AT_VERSION = 8,
    AT_ONE = 12,
    AT_ZERO = 16,
    AT_PAYLOAD_SIZE = 24,
    AT_LOG_SIZE = 32,
    AT_KEY_SIZE = 40,
    AT_CHECKSUM = 48,
    AT_END = ZEPI_DISK_HEAD_BYTES,
};
static_assert(AT_CHECKSUM + 16 == AT_END, "the head has no gap at its end");
static_assert(AT_END % 16 == 0, "the payload that follows is aligned");

static const uint8_t magic[8] = {'Z', 'E', 'P', 'I', 'b', 'l', 'd', '\n'};

static void record_write_number(uint8_t *at, uint64_t value, int size)
{
    for (int i = 0; i < size; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t record_read_number(const uint8_t *at, int size)
{
    uint64_t value = 0;
    for (int i = 0; i < size; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

void zepi_disk_record_encode(const struct zepi_key *key, const struct zepi_build_record *record,
                             struct zepi_disk_record_file *out_file)
{
    uint8_t *head = out_file->head;
    memcpy(head + AT_MAGIC, magic, sizeof(magic));
    record_write_number(head + AT_VERSION, ZEPI_DISK_FORMAT_VERSION, 4);
    record_write_number(head + AT_ONE, 1, 4);
    record_write_number(head + AT_ZERO, 0, 8);
    record_write_number(head + AT_PAYLOAD_SIZE, record->payload_size, 8);
    record_write_number(head + AT_LOG_SIZE, record->log_size, 8);
    record_write_number(head + AT_KEY_SIZE, key->size, 8);

    struct zepi_digest_part *parts = out_file->parts;
    parts[0] = (struct zepi_digest_part){head, AT_CHECKSUM};
    parts[1] = (struct zepi_digest_part){record->payload, record->payload_size};
    parts[2] = (struct zepi_digest_part){record->log, record->log_size};
    parts[3] = (struct zepi_digest_part){key->bytes, key->size};
    struct zepi_digest checksum = zepi_digest_of_parts(parts, ZEPI_DISK_RECORD_PARTS);
    record_write_number(head + AT_CHECKSUM, checksum.low, 8);
    record_write_number(head + AT_CHECKSUM + 8, checksum.high, 8);

    parts[0].size = ZEPI_DISK_HEAD_BYTES;
    out_file->size_bytes = 0;
    for (int i = 0; i < ZEPI_DISK_RECORD_PARTS; i++)
        out_file->size_bytes += parts[i].size;
}

// The lengths in the head add up to the length of the file.
static bool record_lengths_fit(const uint8_t *head, uint64_t size)
{
    uint64_t left = size - ZEPI_DISK_HEAD_BYTES;
    static const int places[] = {AT_PAYLOAD_SIZE, AT_LOG_SIZE, AT_KEY_SIZE};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        uint64_t length = record_read_number(head + places[i], 8);
        if (length > left)
            return false;
        left -= length;
    }
    return left == 0;
}

static bool record_checksum_fits(const uint8_t *bytes, size_t size)
{
    const struct zepi_digest_part parts[] = {
        {bytes, AT_CHECKSUM},
        {bytes + AT_END, size - AT_END},
    };
    struct zepi_digest checksum = zepi_digest_of_parts(parts, 2);
    return record_read_number(bytes + AT_CHECKSUM, 8) == checksum.low &&
           record_read_number(bytes + AT_CHECKSUM + 8, 8) == checksum.high;
}

bool zepi_disk_record_decode(const uint8_t *bytes, size_t size,
                             struct zepi_disk_record_view *out_view)
{
    if (size < ZEPI_DISK_HEAD_BYTES || memcmp(bytes + AT_MAGIC, magic, sizeof(magic)) != 0)
        return false;
    if (record_read_number(bytes + AT_VERSION, 4) != ZEPI_DISK_FORMAT_VERSION ||
        record_read_number(bytes + AT_ONE, 4) != 1 || record_read_number(bytes + AT_ZERO, 8) != 0 ||
        !record_lengths_fit(bytes, size) || !record_checksum_fits(bytes, size))
        return false;

    const uint8_t *payload = bytes + ZEPI_DISK_HEAD_BYTES;
    size_t payload_size = (size_t)record_read_number(bytes + AT_PAYLOAD_SIZE, 8);
    const uint8_t *log = payload + payload_size;
    size_t log_size = (size_t)record_read_number(bytes + AT_LOG_SIZE, 8);
    *out_view = (struct zepi_disk_record_view){
        .record = {.payload = payload,
                   .payload_size = payload_size,
                   .log = (const char *)log,
                   .log_size = log_size},
        .key = log + log_size,
        .key_size = (size_t)record_read_number(bytes + AT_KEY_SIZE, 8),
    };
    return true;
}
