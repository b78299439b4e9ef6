// SPDX-License-Identifier: MIT
#include "program/native/container.h"

#include "cache/digest.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

#define VERSION 1
static const char magic[8] = {'\211', 'z', 'e', 'p', 'i', '\r', '\n', '\032'};

// As they lie in the bytes, which may have any alignment. `checksum` is of all bytes but itself.
struct head {
    char magic[8];
    uint32_t version;
    uint32_t count;
    struct zepi_digest checksum;
};
struct member_head {
    uint32_t group;
    uint32_t zero;
    uint64_t size_bytes;
};
static_assert(sizeof(struct head) == 32 && sizeof(struct member_head) == 16 &&
                  __BYTE_ORDER == __LITTLE_ENDIAN,
              "the structures are the format");

static struct zepi_digest compute_checksum(const uint8_t *bytes, size_t size_bytes)
{
    const struct zepi_digest_part parts[2] = {
        {bytes, offsetof(struct head, checksum)},
        {bytes + sizeof(struct head), size_bytes - sizeof(struct head)}};
    return zepi_digest_of_parts(parts, 2);
}

size_t zepi_container_size(uint32_t count, const struct zepi_container_member *members)
{
    size_t size = sizeof(struct head) + (size_t)count * sizeof(struct member_head);
    for (uint32_t i = 0; i < count; i++)
        size += members[i].size_bytes;
    return size;
}

void zepi_container_pack(uint32_t count, const struct zepi_container_member *members, void *out)
{
    struct head head = {.version = VERSION, .count = count};
    uint8_t *at = (uint8_t *)out + sizeof(head);
    memcpy(head.magic, magic, sizeof(magic));
    memcpy(out, &head, sizeof(head));
    for (uint32_t i = 0; i < count; i++) {
        const struct member_head member = {members[i].group, 0, members[i].size_bytes};
        memcpy(at, &member, sizeof(member));
        at += sizeof(member);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (members[i].size_bytes > 0)
            memcpy(at, members[i].bytes, members[i].size_bytes);
        at += members[i].size_bytes;
    }
    head.checksum = compute_checksum(out, (size_t)(at - (uint8_t *)out));
    memcpy(out, &head, sizeof(head));
}

bool zepi_container_is(const void *bytes, size_t size_bytes)
{
    return size_bytes >= sizeof(magic) && memcmp(bytes, magic, sizeof(magic)) == 0;
}

static struct member_head read_member(const uint8_t *bytes, uint32_t index)
{
    struct member_head member;
    memcpy(&member, bytes + sizeof(struct head) + (size_t)index * sizeof(member), sizeof(member));
    return member;
}

static bool has_good_members(const uint8_t *bytes, size_t size_bytes, uint32_t count)
{
    size_t left = size_bytes - sizeof(struct head) - (size_t)count * sizeof(struct member_head);
    uint32_t group = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct member_head member = read_member(bytes, i);
        const uint32_t next_group = i == 0 ? 0 : group + 1;
        if ((member.group != group && member.group != next_group) || member.zero != 0 ||
            member.size_bytes == 0 || member.size_bytes > left)
            return false;
        group = member.group;
        left -= (size_t)member.size_bytes;
    }
    return left == 0;
}

uint32_t zepi_container_check(const void *bytes, size_t size_bytes, const char **out_reason)
{
    struct head head;
    *out_reason = "it is cut off";
    if (size_bytes < sizeof(head))
        return 0;
    memcpy(&head, bytes, sizeof(head));
    *out_reason = "it has no magic number";
    if (!zepi_container_is(bytes, size_bytes))
        return 0;
    *out_reason = "its version is not known";
    if (head.version != VERSION)
        return 0;
    *out_reason = "its checksum is wrong: it was damaged or cut off";
    if (!zepi_digest_equal(head.checksum, compute_checksum(bytes, size_bytes)))
        return 0;
    *out_reason = "its lengths or groups do not fit";
    const bool is_sound = head.count > 0 && head.count <= ZEPI_CONTAINER_MAX &&
                          (size_bytes - sizeof(head)) / sizeof(struct member_head) >= head.count &&
                          has_good_members(bytes, size_bytes, head.count);
    return is_sound ? head.count : 0;
}

void zepi_container_unpack(const void *bytes, struct zepi_container_member *out_members)
{
    struct head head;
    memcpy(&head, bytes, sizeof(head));
    const uint8_t *at =
        (const uint8_t *)bytes + sizeof(head) + (size_t)head.count * sizeof(struct member_head);
    for (uint32_t i = 0; i < head.count; i++) {
        const struct member_head member = read_member(bytes, i);
        out_members[i] = (struct zepi_container_member){
            .bytes = at, .size_bytes = (size_t)member.size_bytes, .group = member.group};
        at += member.size_bytes;
    }
}
