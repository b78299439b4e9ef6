// SPDX-License-Identifier: MIT
#include "cache/disk/disk_record.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

static const uint8_t magic[8] = {'Z', 'E', 'P', 'I', 'b', 'l', 'd', '\n'};

// As it lies in the file. The checksum is of all of the file but itself.
struct head {
    uint8_t magic[8];
    uint32_t version;
    uint32_t one;
    uint64_t zero;
    uint64_t payload_size, log_size, key_size;
    struct zepi_digest checksum;
};
static_assert(sizeof(struct head) == ZEPI_DISK_HEAD_BYTES && __BYTE_ORDER == __LITTLE_ENDIAN,
              "the structure is the format");
static_assert(ZEPI_DISK_HEAD_BYTES % 16 == 0, "the payload that follows is aligned");

void zepi_disk_record_encode(const struct zepi_key *key, const struct zepi_build_record *record,
                             struct zepi_disk_record_file *out_file)
{
    struct head head = {.version = ZEPI_DISK_FORMAT_VERSION,
                        .one = 1,
                        .payload_size = record->payload_size,
                        .log_size = record->log_size,
                        .key_size = key->size};
    struct zepi_digest_part *parts = out_file->parts;
    memcpy(head.magic, magic, sizeof(magic));
    parts[0] = (struct zepi_digest_part){&head, offsetof(struct head, checksum)};
    parts[1] = (struct zepi_digest_part){record->payload, record->payload_size};
    parts[2] = (struct zepi_digest_part){record->log, record->log_size};
    parts[3] = (struct zepi_digest_part){key->bytes, key->size};
    head.checksum = zepi_digest_of_parts(parts, ZEPI_DISK_RECORD_PARTS);

    memcpy(out_file->head, &head, sizeof(head));
    parts[0] = (struct zepi_digest_part){out_file->head, sizeof(head)};
    out_file->size_bytes = 0;
    for (int i = 0; i < ZEPI_DISK_RECORD_PARTS; i++)
        out_file->size_bytes += parts[i].size;
}

// The lengths in the head add up to the length of the file.
static bool record_lengths_fit(const struct head *head, uint64_t size)
{
    const uint64_t lengths[] = {head->payload_size, head->log_size, head->key_size};
    uint64_t left = size - sizeof(*head);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        if (lengths[i] > left)
            return false;
        left -= lengths[i];
    }
    return left == 0;
}

static bool record_checksum_fits(const struct head *head, const uint8_t *bytes, size_t size)
{
    const struct zepi_digest_part parts[] = {
        {bytes, offsetof(struct head, checksum)},
        {bytes + sizeof(*head), size - sizeof(*head)},
    };
    return zepi_digest_equal(head->checksum, zepi_digest_of_parts(parts, 2));
}

bool zepi_disk_record_decode(const uint8_t *bytes, size_t size,
                             struct zepi_disk_record_view *out_view)
{
    struct head head;
    if (size < sizeof(head))
        return false;
    memcpy(&head, bytes, sizeof(head));
    if (memcmp(head.magic, magic, sizeof(magic)) != 0 || head.version != ZEPI_DISK_FORMAT_VERSION ||
        head.one != 1 || head.zero != 0 || !record_lengths_fit(&head, size) ||
        !record_checksum_fits(&head, bytes, size))
        return false;

    const uint8_t *payload = bytes + sizeof(head);
    const uint8_t *log = payload + head.payload_size;
    *out_view = (struct zepi_disk_record_view){
        .record = {.payload = payload,
                   .payload_size = (size_t)head.payload_size,
                   .log = (const char *)log,
                   .log_size = (size_t)head.log_size},
        .key = log + head.log_size,
        .key_size = (size_t)head.key_size,
    };
    return true;
}
