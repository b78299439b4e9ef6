// SPDX-License-Identifier: MIT
#include "faults.h"

#include "control.h"
#include "log.h"
#include "options.h"
#include "trace.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const site_names[SHIM_FAULT_SITES] = {
    [SHIM_FAULT_BUFFER_CREATE] = "gem_create",
    [SHIM_FAULT_BUFFER_MAP] = "mmap_offset",
    [SHIM_FAULT_SPACE_CREATE] = "vm_create",
    [SHIM_FAULT_BIND] = "vm_bind",
    [SHIM_FAULT_QUEUE_CREATE] = "exec_queue_create",
    [SHIM_FAULT_EXECUTE] = "exec",
    [SHIM_FAULT_FENCE_WAIT] = "wait_user_fence",
    [SHIM_FAULT_QUERY] = "device_query",
    [SHIM_FAULT_KERNEL] = "kernel",
    [SHIM_FAULT_RESET] = "reset",
};

static const struct {
    const char *name;
    int number;
} errors[] = {
    {"hang", EIO},      {"EIO", EIO},       {"ENOMEM", ENOMEM},
    {"ENOSPC", ENOSPC}, {"EINVAL", EINVAL}, {"EAGAIN", EAGAIN},
    {"EINTR", EINTR},   {"ENODEV", ENODEV}, {"ECANCELED", ECANCELED},
    {"ETIME", ETIME},   {"EBUSY", EBUSY},
};

struct fault {
    uint64_t calls;       // so far
    uint64_t first, last; // the calls that fail, from 1; 0: none
    int error;
};

static pthread_mutex_t faults_mutex = PTHREAD_MUTEX_INITIALIZER; // guards the faults
static struct fault faults[SHIM_FAULT_SITES];
static pthread_once_t faults_once = PTHREAD_ONCE_INIT;

static int error_of(const char *name)
{
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
        if (strcmp(errors[i].name, name) == 0)
            return errors[i].number;
    return 0;
}

static int site_of(const char *name)
{
    for (int site = 0; site < SHIM_FAULT_SITES; site++)
        if (strcmp(site_names[site], name) == 0)
            return site;
    return -1;
}

// SITE:N:ERROR, or SITE:N+:ERROR for all calls from the n-th on.
static bool parse_fault(const char *text, struct fault parsed[SHIM_FAULT_SITES])
{
    char name[32], error[16], plus[2] = "";
    unsigned long long first = 0;
    if (sscanf(text, "%31[a-z_]:%llu%1[+]:%15s", name, &first, plus, error) != 4 &&
        sscanf(text, "%31[a-z_]:%llu:%15s", name, &first, error) != 3)
        return false;
    const int site = site_of(name), number = error_of(error);
    if (site < 0 || number == 0 || first == 0)
        return false;
    parsed[site] = (struct fault){
        .first = first, .last = plus[0] == '+' ? UINT64_MAX : first, .error = number};
    return true;
}

static bool parse_faults(const char *text, struct fault parsed[SHIM_FAULT_SITES])
{
    char *copy = strdup(text), *rest = NULL;
    bool is_fine = copy != NULL;
    for (char *one = is_fine ? strtok_r(copy, ",", &rest) : NULL; is_fine && one != NULL;
         one = strtok_r(NULL, ",", &rest))
        is_fine = parse_fault(one, parsed);
    free(copy);
    return is_fine;
}

static bool replace_faults(const char *text)
{
    struct fault parsed[SHIM_FAULT_SITES] = {0};
    const bool is_fine = text == NULL || parse_faults(text, parsed);
    if (!is_fine) {
        shim_error(
            "faults \"%s\" are not understood; expected SITE:N[+]:ERROR, separated by commas",
            text);
        memset(parsed, 0, sizeof(parsed));
    }
    pthread_mutex_lock(&faults_mutex);
    memcpy(faults, parsed, sizeof(faults));
    pthread_mutex_unlock(&faults_mutex);
    return is_fine;
}

static void read_faults(void)
{
    replace_faults(shim_options()->faults);
}

bool drm_shim_set_faults(const char *text)
{
    pthread_once(&faults_once, read_faults);
    return replace_faults(text);
}

int shim_fault_take(enum shim_fault_site site)
{
    pthread_once(&faults_once, read_faults);
    pthread_mutex_lock(&faults_mutex);
    struct fault *fault = &faults[site];
    fault->calls++;
    const bool fails =
        fault->first != 0 && fault->calls >= fault->first && fault->calls <= fault->last;
    const uint64_t call = fault->calls;
    const int error = fails ? fault->error : 0;
    pthread_mutex_unlock(&faults_mutex);
    if (error != 0)
        shim_trace("fault %s call %llu error %d", site_names[site], (unsigned long long)call,
                   error);
    return error;
}
