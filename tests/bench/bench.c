/* SPDX-License-Identifier: Apache-2.0 */
/* tests/bench/bench.c - `make bench`: how fast, how repeatable and how robust the measurements are here.
 *
 *   bench [--isaprobe PROGRAM] [--forms N] [--blocks N] [--seed N] [--bhive FILE] [--store FILE] [SECTION...]
 *
 * Sections: repeat program invariants neighbour bhive wide scan predict blocks; all of them by default. */
#include "tests/bench/bench.h"

#include <getopt.h>
#include <stdbool.h>

static const char *const sections[] = {"repeat", "program", "invariants", "neighbour", "bhive",
                                       "wide",   "scan",    "predict",    "blocks"};
enum { SECTIONS = sizeof sections / sizeof sections[0] };

static int usage(void) {
    (void)fprintf(
        stderr, "usage: bench [--isaprobe PROGRAM] [--forms N] [--blocks N] [--seed N] [--bhive FILE] "
                "[--store FILE] [SECTION...]\nsections: repeat program invariants neighbour bhive wide scan "
                "predict blocks\n");
    return 2;
}

int main(int argc, char **argv) {
    (void)setvbuf(stdout, NULL, _IOLBF, 0); /* whoever reads it through a pipe sees each line at once */
    struct bench_options options = {.isaprobe = "build/gcc-release/isaprobe",
                                    .bhive = "../shared/reference/bhive_sample.csv",
                                    .forms = 1000,
                                    .blocks = 500,
                                    .seed = 1};
    static const struct option longs[] = {
        {"isaprobe", required_argument, NULL, 'i'},
        {"forms", required_argument, NULL, 'f'},
        {"blocks", required_argument, NULL, 'b'},
        {"seed", required_argument, NULL, 's'},
        {"bhive", required_argument, NULL, 'h'},
        {"store", required_argument, NULL, 'S'},
        {NULL, 0, NULL, 0},
    };
    int option = 0;
    while ((option = getopt_long(argc, argv, "", longs, NULL)) != -1) {
        switch (option) {
        case 'i':
            options.isaprobe = optarg;
            break;
        case 'f':
            options.forms = strtoul(optarg, NULL, 10);
            break;
        case 'b':
            options.blocks = strtoul(optarg, NULL, 10);
            break;
        case 's':
            options.seed = strtoull(optarg, NULL, 10);
            break;
        case 'h':
            options.bhive = optarg;
            break;
        case 'S':
            options.store = optarg;
            break;
        default:
            return usage();
        }
    }
    bool wanted[SECTIONS];
    for (int s = 0; s < SECTIONS; s++) {
        wanted[s] = optind == argc;
    }
    for (int a = optind; a < argc; a++) {
        bool known = false;
        for (int s = 0; s < SECTIONS; s++) {
            if (strcmp(argv[a], sections[s]) == 0) {
                wanted[s] = known = true;
            }
        }
        if (!known) {
            return usage();
        }
    }
    struct tool tool;
    tool_open(&tool, "bench", NULL);
    (void)printf("%s, timer %s, CPU %d\n", tool.host.brand, tool.bench.timer.ops->name, tool.bench.timer.cpu);
    if (wanted[0]) {
        bench_repeat(&tool, &options, false);
    }
    if (wanted[1]) {
        bench_program(&options);
    }
    if (wanted[2]) {
        bench_invariants(&tool);
    }
    if (wanted[3]) {
        bench_neighbour(&tool);
    }
    if (wanted[4]) {
        bench_bhive(&tool, &options);
    }
    if (wanted[5]) {
        bench_repeat(&tool, &options, true);
    }
    if (wanted[6]) {
        bench_scan(&tool, &options);
    }
    if (wanted[7]) {
        bench_predict(&tool, &options);
    }
    if (wanted[8]) {
        bench_blocks(&tool, &options);
    }
    tool_close(&tool);
    return fflush(stdout) == 0 ? 0 : 1;
}
