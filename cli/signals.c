/* SPDX-License-Identifier: Apache-2.0 */
/* The first signal is only noted: what runs ends its child and removes its files, then the program leaves.
 * The second one leaves at once. */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

static volatile sig_atomic_t signal_seen;

static void signal_note(int number) {
    if (signal_seen != 0) {
        _exit(128 + number);
    }
    signal_seen = number;
}

int cli_signal(void) {
    return signal_seen;
}

const volatile sig_atomic_t *cli_signal_flag(void) {
    return &signal_seen;
}

void cli_signals_install(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    action.sa_handler = signal_note; /* no SA_RESTART: a read from the terminal must end */
    static const int noted[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof noted / sizeof noted[0]; i++) {
        struct sigaction before;
        /* nohup and background shells ignore some of them: that choice stays. */
        if (sigaction(noted[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
            (void)sigaction(noted[i], &action, NULL);
        }
    }
    action.sa_handler = SIG_IGN; /* a failed write says it, with the file's name */
    (void)sigaction(SIGPIPE, &action, NULL);
    (void)sigaction(SIGXFSZ, &action, NULL);
    action.sa_handler = SIG_DFL; /* ignored by some parents: nobody could wait for NASM then */
    (void)sigaction(SIGCHLD, &action, NULL);
}

void cli_streams_secure(void) {
    /* Else the next file that is opened would become standard output, and data would be written into it. The
     * wrong access mode makes every use fail with EBADF, as on the closed stream. */
    static const int modes[] = {O_WRONLY, O_RDONLY, O_RDONLY};
    for (int fd = 0; fd < 3; fd++) {
        if (fcntl(fd, F_GETFD) < 0) {
            (void)open("/dev/null", modes[fd]);
        }
    }
}
