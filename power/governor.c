/* SPDX-License-Identifier: Apache-2.0 */
#include "power/governor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SAVED = 3, CONFUSED = 100 };

/* What a sweep changes. */
static const char *const saved_names[SAVED] = {"scaling_governor", "scaling_min_freq", "scaling_max_freq"};

struct saved {
    char paths[SAVED][PW_PATH_MAX];
    char values[SAVED][64];
};

static bool freq_path(char *path, const char *root, int cpu, const char *name) {
    return pw_path(path, PW_PATH_MAX, root, "/sys/devices/system/cpu/cpu%d/cpufreq/%s", cpu, name);
}

static enum ip_status saved_read(struct saved *saved, const char *root, int cpu, struct ip_error *err) {
    for (int i = 0; i < SAVED; i++) {
        if (!freq_path(saved->paths[i], root, cpu, saved_names[i])) {
            return ip_fail(err, IP_USAGE, "the root directory's name is too long");
        }
        errno = 0;
        if (!pw_sysfs_line(saved->paths[i], saved->values[i], sizeof saved->values[i])) {
            return ip_fail_errno(err, IP_CAPABILITY, errno,
                                 "cannot read %s: this CPU's frequency cannot be set", saved->paths[i]);
        }
        if (access(saved->paths[i], W_OK) != 0) {
            return ip_fail_errno(err, IP_CAPABILITY, errno,
                                 "cannot write %s: a sweep over frequencies needs root", saved->paths[i]);
        }
    }
    return IP_OK;
}

/* 0, or 1 + the index of the file that could not be written back. Each is tried, whatever the others did; the
 * limits twice, because which of them must go first depends on where the sweep stopped. */
static int saved_restore(const struct saved *saved) {
    struct ip_error err;
    int bad = 0;
    (void)!pw_sysfs_write(saved->paths[1], saved->values[1], &err);
    for (int i = 0; i < SAVED; i++) {
        if (pw_sysfs_write(saved->paths[i], saved->values[i], &err) != IP_OK && i != 1) {
            bad = 1 + i;
        }
    }
    if (pw_sysfs_write(saved->paths[1], saved->values[1], &err) != IP_OK) {
        bad = 2;
    }
    return bad;
}

_Noreturn static void guard_run(const struct saved *saved, int fd) {
    sigset_t all;
    sigfillset(&all);
    (void)sigprocmask(SIG_BLOCK, &all, NULL);
    (void)setsid();
    char byte;
    ssize_t got = 0;
    do {
        got = read(fd, &byte, 1);
    } while (got > 0 || (got < 0 && errno == EINTR));
    _exit(saved_restore(saved));
}

enum ip_status pw_governor_hold(struct pw_governor *governor, const char *root, int cpu,
                                struct ip_error *err) {
    struct saved saved;
    enum ip_status status = saved_read(&saved, root, cpu, err);
    int ends[2];
    if (status != IP_OK) {
        return status;
    }
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return ip_fail_errno(err, IP_FAILED, errno, "cannot make a pipe for the guard of the governor");
    }
    pid_t guard = fork();
    if (guard < 0) {
        int fork_errno = errno;
        (void)close(ends[0]);
        (void)close(ends[1]);
        return ip_fail_errno(err, IP_FAILED, fork_errno, "cannot start the guard of the governor");
    }
    if (guard == 0) {
        (void)close(ends[1]); /* else its own end would keep the pipe open */
        guard_run(&saved, ends[0]);
    }
    (void)close(ends[0]);
    *governor = (struct pw_governor){.cpu = cpu, .pipe_fd = ends[1], .guard = guard};
    (void)snprintf(governor->root, sizeof governor->root, "%s", root);
    return IP_OK;
}

enum ip_status pw_governor_set_khz(struct pw_governor *governor, double khz, struct ip_error *err) {
    char low[PW_PATH_MAX], high[PW_PATH_MAX], value[32];
    double low_now = 0;
    if (!freq_path(low, governor->root, governor->cpu, "scaling_min_freq") ||
        !freq_path(high, governor->root, governor->cpu, "scaling_max_freq")) {
        return ip_fail(err, IP_USAGE, "the root directory's name is too long");
    }
    (void)snprintf(value, sizeof value, "%.0f", khz);
    bool down = pw_sysfs_number(low, &low_now) && khz < low_now;
    enum ip_status status = pw_sysfs_write(down ? low : high, value, err);
    return status != IP_OK ? status : pw_sysfs_write(down ? high : low, value, err);
}

bool pw_governor_now_khz(const struct pw_governor *governor, double *khz) {
    char path[PW_PATH_MAX];
    return freq_path(path, governor->root, governor->cpu, "scaling_cur_freq") && pw_sysfs_number(path, khz);
}

enum ip_status pw_governor_release(struct pw_governor *governor, struct ip_error *err) {
    int result = 0;
    (void)close(governor->pipe_fd);
    governor->pipe_fd = -1;
    while (waitpid(governor->guard, &result, 0) < 0) {
        if (errno != EINTR) {
            return ip_fail_errno(err, IP_FAILED, errno, "cannot wait for the guard of the governor");
        }
    }
    int bad = WIFEXITED(result) ? WEXITSTATUS(result) : CONFUSED;
    if (bad == 0) {
        return IP_OK;
    }
    return ip_fail(err, IP_IO, "could not put %s of CPU %d back to what it was: do so by hand",
                   bad <= SAVED ? saved_names[bad - 1] : "the governor", governor->cpu);
}
