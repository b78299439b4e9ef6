// SPDX-License-Identifier: MIT
#include "program/native/container.h"

#include "cache/digest.h"

#include <endian.h>
#include <string.h>

#define VERSION 1
static const char magic[8] = {'\211', 'z', 'e', 'p', 'i', '\r', '\n', '\032'};

enum {
    AT_VERSION = 8,
    AT_COUNT = 12,
    AT_CHECKSUM = 16,
    AT_MEMBERS = 32,
    MEMBER_SIZE = 16,
};

static void write_u32(uint8_t *at, uint32_t value)
{
    value = htole32(value);
    memcpy(at, &value, sizeof(value));
}

static void write_u64(uint8_t *at, uint64_t value)
{
    value = htole64(value);
    memcpy(at, &value, sizeof(value));
}

static uint32_t read_u32(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof(value));
    return le32toh(value);
}

static uint64_t read_u64(const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof(value));
    return le64toh(value);
}

static void compute_checksum(const uint8_t *bytes, size_t size_bytes, uint8_t out[16])
{
    const struct zepi_digest_part parts[2] = {{bytes, AT_CHECKSUM},
                                              {bytes + AT_MEMBERS, size_bytes - AT_MEMBERS}};
    const struct zepi_digest digest = zepi_digest_of_parts(parts, 2);
    write_u64(out, digest.low);
    write_u64(out + 8, digest.high);
}

size_t zepi_container_size(uint32_t count, const struct zepi_container_member *members)
{
    size_t size = AT_MEMBERS + (size_t)count * MEMBER_SIZE;
    for (uint32_t i = 0; i < count; i++)
        size += members[i].size_bytes;
    return size;
}

void zepi_container_pack(uint32_t count, const struct zepi_container_member *members, void *out)
{
    uint8_t *bytes = out;
    uint8_t *at = bytes + AT_MEMBERS + (size_t)count * MEMBER_SIZE;
    memcpy(bytes, magic, sizeof(magic));
    write_u32(bytes + AT_VERSION, VERSION);
    write_u32(bytes + AT_COUNT, count);
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *head = bytes + AT_MEMBERS + (size_t)i * MEMBER_SIZE;
        write_u32(head, members[i].group);
        write_u32(head + 4, 0);
        write_u64(head + 8, members[i].size_bytes);
        if (members[i].size_bytes > 0)
            memcpy(at, members[i].bytes, members[i].size_bytes);
        at += members[i].size_bytes;
    }
    compute_checksum(bytes, (size_t)(at - bytes), bytes + AT_CHECKSUM);
}

bool zepi_container_is(const void *bytes, size_t size_bytes)
{
    return size_bytes >= sizeof(magic) && memcmp(bytes, magic, sizeof(magic)) == 0;
}

static bool has_good_members(const uint8_t *bytes, size_t size_bytes, uint32_t count)
{
    size_t left = size_bytes - AT_MEMBERS - (size_t)count * MEMBER_SIZE;
    uint32_t group = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *head = bytes + AT_MEMBERS + (size_t)i * MEMBER_SIZE;
        const uint32_t own_group = read_u32(head);
        const uint64_t size = read_u64(head + 8);
        const uint32_t next_group = i == 0 ? 0 : group + 1;
        if ((own_group != group && own_group != next_group) || read_u32(head + 4) != 0 ||
            size == 0 || size > left)
            return false;
        group = own_group;
        left -= (size_t)size;
    }
    return left == 0;
}

uint32_t zepi_container_check(const void *pointer, size_t size_bytes, const char **out_reason)
{
    const uint8_t *bytes = pointer;
    uint8_t checksum[16];
    *out_reason = "it is cut off";
    if (size_bytes < AT_MEMBERS)
        return 0;
    *out_reason = "it has no magic number";
    if (!zepi_container_is(bytes, size_bytes))
        return 0;
    *out_reason = "its version is not known";
    if (read_u32(bytes + AT_VERSION) != VERSION)
        return 0;
    *out_reason = "its checksum is wrong: it was damaged or cut off";
    compute_checksum(bytes, size_bytes, checksum);
    if (memcmp(bytes + AT_CHECKSUM, checksum, sizeof(checksum)) != 0)
        return 0;
    *out_reason = "its lengths or groups do not fit";
    const uint32_t count = read_u32(bytes + AT_COUNT);
    if (count == 0 || count > ZEPI_CONTAINER_MAX ||
        (size_bytes - AT_MEMBERS) / MEMBER_SIZE < count ||
        !has_good_members(bytes, size_bytes, count))
        return 0;
    return count;
}

void zepi_container_unpack(const void *pointer, struct zepi_container_member *out_members)
{
    const uint8_t *bytes = pointer;
    const uint32_t count = read_u32(bytes + AT_COUNT);
    const uint8_t *at = bytes + AT_MEMBERS + (size_t)count * MEMBER_SIZE;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *head = bytes + AT_MEMBERS + (size_t)i * MEMBER_SIZE;
        out_members[i] = (struct zepi_container_member){
            .bytes = at, .size_bytes = (size_t)read_u64(head + 8), .group = read_u32(head)};
        at += out_members[i].size_bytes;
    }
}
