// SPDX-License-Identifier: MIT
//
// Processes that write the cache are killed at random moments, hundreds of times, while others read
// and trim it. No reader ever gets a wrong result, no bad file remains, and one sweep removes what
// the dead left behind.
#include "cache_fixture.h"
#include "test_env.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    WRITERS = 3,
    READERS = 2,
    KILLS = 400,
    LEAST_KILLS = 100, // that are made however long they take
    MOST_SECONDS = 10, // for those above
    KEYS = 16,
    MOST_PAYLOAD_BYTES = 300 * 1000,
    LIMIT_BYTES = 2 * 1000 * 1000,
};

static const char *folder;
static uint8_t payload[MOST_PAYLOAD_BYTES];

// A payload says itself what it must be: key, generation, then bytes that depend on both.
static size_t make_payload(uint32_t key, uint32_t generation)
{
    size_t size = 1000 + (key * 7919 + generation * 104729) % (MOST_PAYLOAD_BYTES - 1000);
    memcpy(payload, &key, sizeof(key));
    memcpy(payload + 4, &generation, sizeof(generation));
    for (size_t i = 8; i < size; i++)
        payload[i] = (uint8_t)(key * 31 + generation * 17 + i);
    return size;
}

static bool is_right(const struct zepi_build_record *record, uint32_t key)
{
    uint32_t generation;
    if (record->payload_size < 8)
        return false;
    memcpy(&generation, (const uint8_t *)record->payload + 4, sizeof(generation));
    size_t size = make_payload(key, generation);
    return record->payload_size == size && memcmp(record->payload, payload, size) == 0 &&
           record->log_size == 3 && memcmp(record->log, "log", 3) == 0;
}

static _Noreturn void write_forever(unsigned seed)
{
    struct zepi_disk *disk = zepi_disk_create(folder, LIMIT_BYTES);
    for (;;) {
        uint32_t number = (uint32_t)rand_r(&seed) % KEYS;
        struct zepi_build_record record = {.payload = payload, .log = "log", .log_size = 3};
        struct zepi_key key;
        record.payload_size = make_payload(number, (uint32_t)rand_r(&seed));
        fixture_key(&key, number);
        zepi_disk_store_ops.store(disk, &key, &record);
    }
}

static atomic_bool is_over;

static void end_reading(int number)
{
    (void)number;
    atomic_store(&is_over, true);
}

// Exits with 1 at the first wrong result, else with 0 when asked to end.
static _Noreturn void read_until_told(unsigned seed)
{
    struct zepi_disk *disk = zepi_disk_create(folder, LIMIT_BYTES);
    unsigned long loads = 0;
    unsigned long hits = 0;
    signal(SIGTERM, end_reading);
    while (!atomic_load(&is_over)) {
        uint32_t number = (uint32_t)rand_r(&seed) % KEYS;
        struct zepi_build_record record;
        struct zepi_disk_tally removed;
        struct zepi_key key;
        fixture_key(&key, number);
        if (++loads % 200 == 0)
            zepi_disk_trim(disk, LIMIT_BYTES / 2, &removed);
        if (!zepi_disk_store_ops.load(disk, &key, &record))
            continue;
        hits++;
        if (!is_right(&record, number)) {
            fprintf(stderr, "a reader got a wrong result for key %u\n", number);
            _exit(1);
        }
        zepi_build_record_finish(&record);
    }
    printf("a reader: %lu loads, %lu hits\n", loads, hits);
    fflush(stdout);
    _exit(hits > 0 ? 0 : 2);
}

static pid_t start(void (*run)(unsigned seed), unsigned seed)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        run(seed);
    if (child < 0) {
        perror("fork");
        exit(1);
    }
    return child;
}

static void sleep_us(long us)
{
    const struct timespec time = {.tv_nsec = us * 1000};
    nanosleep(&time, NULL);
}

static int kill_writers(void)
{
    pid_t writers[WRITERS];
    time_t end = time(NULL) + MOST_SECONDS;
    unsigned seed = 1;
    int kills = 0;
    for (int i = 0; i < WRITERS; i++)
        writers[i] = start(write_forever, seed++);
    while (kills < KILLS && (kills < LEAST_KILLS || time(NULL) < end)) {
        int victim = rand_r(&seed) % WRITERS;
        sleep_us(rand_r(&seed) % 12000);
        kill(writers[victim], SIGKILL);
        waitpid(writers[victim], NULL, 0);
        writers[victim] = start(write_forever, (unsigned)rand_r(&seed));
        kills++;
    }
    for (int i = 0; i < WRITERS; i++) {
        kill(writers[i], SIGKILL);
        waitpid(writers[i], NULL, 0);
    }
    return kills + WRITERS;
}

// Counts what a sweep has to do and checks that it does it.
static bool sweep_leaves_only_good_files(void)
{
    struct zepi_disk *disk = zepi_disk_create(folder, LIMIT_BYTES);
    struct zepi_disk_report before;
    struct zepi_disk_report after;
    struct zepi_disk_tally removed;
    zepi_disk_count(disk, ZEPI_DISK_READ, &before);
    zepi_disk_trim(disk, UINT64_MAX, &removed);
    zepi_disk_count(disk, ZEPI_DISK_READ, &after);
    zepi_disk_destroy(disk);
    printf("good %llu, bad %llu, leftovers %llu, after a sweep %llu\n",
           (unsigned long long)after.of[ZEPI_DISK_FILE_RESULT].files,
           (unsigned long long)before.of[ZEPI_DISK_FILE_BAD].files,
           (unsigned long long)before.of[ZEPI_DISK_FILE_TEMPORARY].files,
           (unsigned long long)after.of[ZEPI_DISK_FILE_TEMPORARY].files);
    return before.of[ZEPI_DISK_FILE_BAD].files == 0 && after.of[ZEPI_DISK_FILE_RESULT].files > 0 &&
           after.of[ZEPI_DISK_FILE_TEMPORARY].files == 0;
}

int main(void)
{
    pid_t readers[READERS];
    bool is_good = true;
    folder = test_env_scratch_path("cache");
    for (unsigned i = 0; i < READERS; i++)
        readers[i] = start(read_until_told, 100 + i);
    int kills = kill_writers();
    for (int i = 0; i < READERS; i++) {
        int status;
        kill(readers[i], SIGTERM);
        waitpid(readers[i], &status, 0);
        if (status != 0) {
            fprintf(stderr, "a reader ended with status %x\n", (unsigned)status);
            is_good = false;
        }
    }
    printf("%d writers killed\n", kills);
    is_good = sweep_leaves_only_good_files() && is_good;
    return is_good ? 0 : 1;
}
