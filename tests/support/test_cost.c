// SPDX-License-Identifier: MIT
#include "test_cost.h"

#include "test_env.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FEW = 1000, MANY = 3000 };

bool test_cost_is_measurable(void)
{
    if (!TEST_IS_MEASURABLE)
        puts("skipped: counts of a build with sanitizers or without optimisation say nothing");
    return TEST_IS_MEASURABLE;
}

bool test_cost_has_valgrind(void)
{
    if (system("valgrind --version >/dev/null 2>&1") == 0) // NOLINT(cert-env33-c)
        return true;
    puts("skipped: there is no valgrind");
    return false;
}

const char *test_cost_program(void)
{
    static char path[512];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    if (length < 0) {
        perror("test cost: /proc/self/exe");
        exit(1);
    }
    path[length] = '\0';
    return path;
}

// Instructions of a run that does KIND `count` times, or 0 if callgrind did not say.
static unsigned long long count_instructions(const char *kind, int count, const char *functions)
{
    char toggle[128] = "";
    char command[1024];
    char line[512];
    unsigned long long instructions = 0;
    if (functions)
        snprintf(toggle, sizeof(toggle), "--toggle-collect='%s'", functions);
    snprintf(command, sizeof(command),
             "valgrind --tool=callgrind %s --callgrind-out-file=/dev/null '%s' %s %d 2>&1", toggle,
             test_cost_program(), kind, count);
    FILE *output = popen(command, "r"); // NOLINT(cert-env33-c): the command is ours
    if (!output)
        return 0;
    while (fgets(line, sizeof(line), output)) {
        const char *found = strstr(line, "Collected : ");
        if (found)
            instructions = strtoull(found + strlen("Collected : "), NULL, 10);
    }
    return pclose(output) == 0 ? instructions : 0;
}

double test_cost_instructions(const char *kind, const char *functions)
{
    const unsigned long long less = count_instructions(kind, FEW, functions);
    const unsigned long long more = count_instructions(kind, MANY, functions);
    return less > 0 && more > less ? (double)(more - less) / (MANY - FEW) : 0;
}

bool test_cost_is_silent(const char *what)
{
    const char *program = test_cost_program();
    int status = -1;
    const pid_t child = fork();
    if (child == 0) {
        execl(program, program, "silent", "1000", (char *)NULL);
        _exit(1);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return false;
    if (WIFEXITED(status) && WEXITSTATUS(status) == TEST_SKIPPED) {
        puts("system calls: not judged, there is no seccomp");
        return true;
    }
    const bool is_good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    printf("%s makes %s system call\n", what, is_good ? "no" : "a");
    return is_good;
}

void test_cost_begin_silence(void)
{
    // The kernel's own strict mode would also forbid the processor's clock.
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    const struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        exit(TEST_SKIPPED);
}

void test_cost_end_silence(void)
{
    syscall(SYS_exit, 0);
    __builtin_unreachable();
}
