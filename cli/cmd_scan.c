/* SPDX-License-Identifier: Apache-2.0 */
/* cli/cmd_scan.c - measures many forms into the store. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/portmap.h"
#include "cli/scan.h"
#include "cli/store.h"
#include "common/clock.h"
#include "isa/decode.h"

/* On a terminal: how far, how fast, how long still. */
void scan_progress_show(struct scan *scan) {
    double elapsed_s = ip_clock_seconds() - scan->bench.begin_s;
    if (!scan->bench.progress || scan->stored_count == 0 || elapsed_s < 0.5) {
        return;
    }
    double rate = (double)scan->stored_count / elapsed_s;
    (void)fprintf(stderr, "\r%zu of %zu forms, %.0f a second, %.0f s left\x1b[K", scan->stored_count,
                  scan->left_count, rate, (double)(scan->left_count - scan->stored_count) / rate);
    (void)fflush(stderr);
    scan->bench.shown = true;
}

/* What the store has not yet, or, with --force, everything. */
static enum ip_status left_find(struct scan *scan, struct ip_error *err) {
    free(scan->left);
    scan->left_count = 0;
    scan->left = calloc(scan->forms.count + 1, sizeof(struct isa_form *));
    if (scan->left == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for %zu forms", scan->forms.count);
    }
    enum ip_status status = IP_OK;
    for (size_t i = 0; status == IP_OK && i < scan->forms.count; i++) {
        bool known = false;
        if (!scan->settings->force) {
            status = res_form_known(scan->store, scan->forms.items[i]->syntax, scan->parts,
                                    scan->settings->retry, &known, err);
        }
        if (!known) {
            scan->left[scan->left_count++] = scan->forms.items[i];
        }
    }
    return status;
}

static enum ip_status run_begin(struct scan *scan, const struct hx_host *host, struct ip_error *err) {
    struct ip_text selection = {0};
    cli_selection_describe(&selection, scan->settings);
    const struct res_run run =
        cli_store_run(scan->settings, host, &scan->bench.bench, ip_text_string(&selection));
    enum ip_status status = selection.failed ? ip_fail(err, IP_NO_MEMORY, "out of memory")
                                             : res_run_begin(scan->store, &run, err);
    ip_text_fini(&selection);
    return status;
}

/* Where noise left no port map that can be trusted, all but the ports is measured. */
static enum ip_status ports_leave_out(struct scan *scan, struct ip_error *err) {
    scan->parts &= ~(unsigned)RES_PART_PORTS;
    if (scan->parts == 0) {
        return ip_fail(
            err, IP_UNTRUSTED,
            "no two attempts at the port map found the same: leave the machine idle and scan again");
    }
    scan->no_map = true;
    return left_find(scan, err);
}

/* The port map: the store's, or measured now and stored; and what its units are called. */
static enum ip_status map_prepare(struct scan *scan, struct ip_error *err) {
    bool measured = false;
    enum ip_status status = cli_portmap_get(&scan->bench, &scan->forms.table, scan->store,
                                            scan->settings->force, &scan->map, &measured, err);
    if (status == IP_OK && !scan->map.confirmed) {
        return ports_leave_out(scan, err);
    }
    if (status == IP_OK && measured) {
        status = res_portmap_put(scan->store, &scan->map, err);
    }
    return status == IP_OK ? res_units_get(scan->store, &scan->units, err) : status;
}

enum { TRANSFER_BATCHES = 6 };

/* The transfers that close latency chains. A single group finds out for itself which of them it needs. */
static enum ip_status transfers_prepare(struct scan *scan, struct ip_error *err) {
    enum ip_status status = probe_transfers_init(&scan->transfers, &scan->forms.table, err);
    if (status == IP_OK && scan->left_count > scan->group) {
        struct hx_plan *plan = &scan->bench.bench.plan;
        const struct hx_plan full = *plan;
        hx_plan_quicken(plan, false);
        plan->min_batches = TRANSFER_BATCHES; /* many forms hang on them */
        probe_transfers_need_all(&scan->transfers);
        status =
            probe_transfers_calibrate(&scan->transfers, &scan->bench.inner, &scan->bench.bench.encoder, err);
        *plan = full;
    }
    return status;
}

/* Measures what is left, until a signal comes. */
static enum ip_status forms_measure(struct scan *scan, const struct hx_host *host, struct ip_error *err) {
    enum ip_status status = cli_bench_open(&scan->bench, scan->settings, err);
    if (status == IP_OK) {
        const struct hx_plan full = scan->bench.bench.plan;
        if (!scan->settings->careful) {
            hx_plan_quicken(&scan->bench.bench.plan, false);
        }
        /* After a signal the group in hand is still finished and stored: it takes a moment, some seconds for
         * the slowest forms. The second one leaves at once. */
        scan->bench.bench.timer.stop = NULL;
        status = run_begin(scan, host, err);
        bool begun = status == IP_OK;
        if (begun) {
            scan->pending.inner = scan->bench.inner;
            scan->pending.plan = &scan->bench.bench.plan;
            scan->pending.store = scan->store;
            scan->log.inner = res_pending_meter(&scan->pending);
            status = res_pending_open(&scan->pending, scan->settings->force, err);
        }
        /* What many forms hang on is measured with the full plan. */
        scan->bench.bench.plan = full;
        if (status == IP_OK && (scan->parts & RES_PART_PORTS) != 0) {
            status = map_prepare(scan, err);
        }
        if (status == IP_OK) {
            status = isa_forms_derive(scan->left, scan->left_count, err); /* in one run of NASM */
        }
        if (status == IP_OK && (scan->parts & RES_PART_LATENCY) != 0) {
            status = transfers_prepare(scan, err);
        }
        if (status == IP_OK) {
            status = scan_passes_run(scan, err);
        }
        if (status == IP_OK && cli_signal() == 0) {
            status = res_pending_clear(&scan->pending, true, err);
        }
        if (begun) {
            struct ip_error ignored; /* the first failure is the one to report */
            const char *outcome = cli_signal() != 0 ? "interrupted" : status == IP_OK ? "finished" : "failed";
            enum ip_status ended = res_run_end(scan->store, outcome, scan->bench.bench.kernels_run,
                                               status == IP_OK ? err : &ignored);
            status = status == IP_OK ? ended : status;
        }
    }
    return cli_bench_close(&scan->bench, status, err);
}

/* What came of it, in one line, and the exit code. */
static int scan_conclude(const struct scan *scan, const char *command, const char *path) {
    const size_t *stored = scan->stored;
    size_t untrusted = stored[RES_STATUS_UNSTABLE] + stored[RES_STATUS_DISTURBED];
    size_t left = scan->left_count - scan->stored_count, before = scan->forms.count - scan->left_count;
    if (cli_signal() != 0) {
        char once[48] = "";
        size_t count = scan_again_count(scan);
        if (count > 0) {
            (void)snprintf(once, sizeof once, " (%zu of them read once)", count);
        }
        cli_message(command, "interrupted: %zu form%s stored in '%s', %zu left%s; the same command goes on",
                    scan->stored_count, cli_plural(scan->stored_count), path, left, once);
        return 128 + cli_signal();
    }
    if (scan->no_map && !scan->settings->quiet) {
        cli_message(
            command,
            "the ports are left out: no two attempts at the port map found the same; leave the machine "
            "idle and scan again");
    }
    int code = untrusted > 0 || scan->no_map ? CLI_EXIT_UNTRUSTED : CLI_EXIT_OK;
    if (scan->left_count == 0) {
        if (!scan->settings->quiet && !scan->no_map) {
            char forms[40] = "the form";
            if (before != 1) {
                (void)snprintf(forms, sizeof forms, "all %zu forms", before);
            }
            cli_message(
                command,
                "nothing to measure: the store '%s' has %s ('isaprobe scan --force' measures %s again)", path,
                forms, before == 1 ? "it" : "them");
        }
        return code;
    }
    if (!scan->settings->quiet) {
        cli_message(
            command,
            "%zu form%s stored in '%s': %zu ok, %zu not to be trusted, %zu that this CPU lacks, %zu that "
            "fault, %zu not measurable; %zu were there before",
            scan->stored_count, cli_plural(scan->stored_count), path, stored[RES_STATUS_OK], untrusted,
            stored[RES_STATUS_ILLEGAL], stored[RES_STATUS_FAULT], stored[RES_STATUS_UNMEASURABLE], before);
        if (untrusted > 0) {
            cli_message(command,
                        "leave the machine idle and scan with --retry (or --careful too) to measure %s "
                        "again",
                        untrusted == 1 ? "it" : "them");
        }
    }
    return code;
}

/* "latency,ports" as a set of parts; false: a word of it is none, or there is none. */
static bool parts_read(const char *list, unsigned *parts) {
    static const struct {
        const char *name;
        unsigned part;
    } known[] = {{"latency", RES_PART_LATENCY},
                 {"throughput", RES_PART_THROUGHPUT},
                 {"slots", RES_PART_SLOTS},
                 {"ports", RES_PART_PORTS}};
    unsigned found = 0;
    while (*list != '\0') {
        size_t length = strcspn(list, ",");
        unsigned part = 0;
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
            if (strlen(known[i].name) == length && strncmp(list, known[i].name, length) == 0) {
                part = known[i].part;
            }
        }
        if (part == 0) {
            return false;
        }
        found |= part;
        list += length + (list[length] == ',');
    }
    *parts = found;
    return found != 0;
}

static int scan_run(const struct cli_command *command, struct cli_settings *settings) {
    struct scan scan = {.settings = settings};
    struct ip_error err = {0};
    struct ip_text path = {0};
    struct hx_host host = {0};
    scan.parts = RES_PART_LATENCY | RES_PART_THROUGHPUT | RES_PART_SLOTS;
    if (settings->parts != NULL && !parts_read(settings->parts, &scan.parts)) {
        return cli_usage_error(command->name,
                               "--parts '%.100s': expected some of latency,throughput,slots,ports",
                               settings->parts);
    }
    scan.parts &= ~((settings->no_latency ? RES_PART_LATENCY : 0u) |
                    (settings->no_throughput ? RES_PART_THROUGHPUT | RES_PART_SLOTS : 0u));
    scan.group = settings->group != 0 ? (size_t)settings->group : SCAN_GROUP_DEFAULT;
    if (scan.parts == 0) {
        bool both = settings->no_latency && settings->no_throughput;
        return cli_usage_error(command->name, "%s%s%s leave%s nothing to measure%s%.100s",
                               settings->no_latency ? "--no-latency" : "", both ? " and " : "",
                               settings->no_throughput ? "--no-throughput" : "", both ? "" : "s",
                               settings->parts != NULL ? " of --parts " : "",
                               settings->parts != NULL ? settings->parts : "");
    }
    /* A file that may not grow is to be a failed write, not the end of the program. */
    (void)signal(SIGXFSZ, SIG_IGN);
    enum ip_status status = cli_selection_make(&scan.forms, settings, &err);
    if (status == IP_OK) {
        status = cli_store_open(&scan.store, &path, &host, settings, &err);
    }
    if (status == IP_OK) {
        status = left_find(&scan, &err);
    }
    if (status == IP_OK && scan.left_count > 0) {
        status = forms_measure(&scan, &host, &err);
    }
    int code = 0;
    if (status != IP_OK) {
        code = cli_report(command->name, &err);
    }
    if (status == IP_OK || cli_signal() != 0) {
        code = scan_conclude(&scan, command->name, ip_text_string(&path));
    }
    res_store_close(scan.store);
    res_log_fini(&scan.log);
    res_pending_fini(&scan.pending);
    probe_portmap_fini(&scan.map);
    probe_transfers_fini(&scan.transfers);
    free(scan.left);
    free(scan.beside);
    free(scan.late);
    scan_again_fini(&scan);
    cli_forms_fini(&scan.forms);
    hx_host_fini(&host);
    ip_text_fini(&path);
    return code;
}

#define AT(field) offsetof(struct cli_settings, field)

static const struct cli_option options[] = {
    {"store", 'S', "FILE", "the store; by default that of this CPU below $XDG_DATA_HOME/isaprobe",
     CLI_KIND_FILE, AT(store), 0, 0, NULL},
    {"list", 'l', "FILE", "the forms named in FILE, one a line; # begins a comment; - is standard input",
     CLI_KIND_FILE, AT(list), 0, 0, NULL},
    {"force", 0, NULL, "measure again what the store has already", CLI_KIND_FLAG, AT(force), 0, 0, NULL},
    {"retry", 0, NULL, "measure again what the store has but does not trust", CLI_KIND_FLAG, AT(retry), 0, 0,
     NULL},
    {"group", 'g', "N", "measure so many forms together (512)", CLI_KIND_NUMBER, AT(group), 1, SCAN_GROUP_MAX,
     NULL},
    {"parts", 'p', "LIST", "what to measure: some of latency,throughput,slots,ports (all but ports)",
     CLI_KIND_STRING, AT(parts), 0, 0, NULL},
    {"no-latency", 0, NULL, "leave the latency out", CLI_KIND_FLAG, AT(no_latency), 0, 0, NULL},
    {"no-throughput", 0, NULL, "leave the throughput and the issue slots out", CLI_KIND_FLAG,
     AT(no_throughput), 0, 0, NULL},
    {"quiet", 'q', NULL, "no progress, no summary and no warnings on standard error", CLI_KIND_FLAG,
     AT(quiet), 0, 0, NULL},
    {0},
};

const struct cli_command cli_cmd_scan = {
    .name = "scan",
    .summary = "measure many forms, or all, into this CPU's store",
    .arguments = "[FORM]...",
    .description =
        "Without FORM and --list: all forms. What the store has already is left out, so that a scan that\n"
        "was interrupted or killed goes on where it was. Each form is stored as a whole or not at all.\n",
    .options = options,
    .groups = CLI_GROUP_FORMS | CLI_GROUP_METER | CLI_GROUP_TABLE,
    .min_arguments = 0,
    .max_arguments = -1,
    .run = scan_run,
};
