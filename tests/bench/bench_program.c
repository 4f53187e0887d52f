/* SPDX-License-Identifier: Apache-2.0 */
/* Wall time of the program's main job: start, table, NASM, calibration, measurement, output. */
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "tests/bench/bench.h"

extern char **environ;

enum { RUNS = 11 };

double bench_run_seconds(char *const *arguments, int *exit_code) {
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0) {
        return -1;
    }
    double begin = ip_clock_seconds();
    pid_t pid = 0;
    int failed = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    failed |= failed != 0 ? 0 : posix_spawn(&pid, arguments[0], &actions, NULL, arguments, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    int status = 0;
    if (failed != 0 || waitpid(pid, &status, 0) != pid) {
        return -1;
    }
    *exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return ip_clock_seconds() - begin;
}

void bench_program(const struct bench_options *options) {
    (void)printf("\n## Wall time of one question\n");
    double seconds[RUNS];
    int worst = 0;
    for (int i = 0; i < RUNS; i++) {
        int exit_code = 0;
        char *const arguments[] = {(char *)options->isaprobe, "latency", "ADDPD", NULL};
        seconds[i] = bench_run_seconds(arguments, &exit_code);
        if (seconds[i] < 0) {
            (void)printf("cannot run '%s'; say which with --isaprobe\n", options->isaprobe);
            return;
        }
        worst = exit_code > worst ? exit_code : worst;
    }
    double median = hx_median(seconds, RUNS); /* sorts */
    (void)printf("%-44s median %.3f s, %.3f to %.3f s, %d runs, highest exit code %d (aim: below 0.3 s)\n",
                 "isaprobe latency ADDPD", median, seconds[0], seconds[RUNS - 1], RUNS, worst);
}
