/* SPDX-License-Identifier: Apache-2.0 */
/* power/machine.h - a machine as the energy model sees it: frequencies with voltages, what a memory access
 * costs, what the core draws. docs/power.md describes the file. Settings go from the fastest to the slowest.
 */
#ifndef ISAPROBE_POWER_MACHINE_H
#define ISAPROBE_POWER_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"
#include "common/text.h"
#include "power/reader.h"

enum { PW_SETTINGS_MAX = 256, PW_CLOCKS_MAX = 8, PW_TERMS_MAX = 12 };

struct pw_setting {
    int divisor; /* of the reference clock; 0: the setting is named by its frequency */
    double freq_hz;
    double volts;      /* NaN: not known */
    double measured_w; /* NaN: not measured */
};

/* A clock that does not follow the core's: memory, mesh. */
struct pw_clock {
    char name[PW_NAME_MAX];
    double hz;
};

enum pw_term_kind { PW_TERM_CORE, PW_TERM_CLOCK, PW_TERM_TIME };

/* One part of what a memory access takes. */
struct pw_term {
    enum pw_term_kind kind;
    size_t clock;  /* PW_TERM_CLOCK: index into clocks */
    double amount; /* cycles; PW_TERM_TIME: seconds */
    bool per_hop;
};

enum pw_power_kind {
    PW_POWER_UNKNOWN,  /* neither C nor measured watts */
    PW_POWER_GIVEN,    /* C·V²·f + static, C from the file */
    PW_POWER_FITTED,   /* C·V²·f + static, both fitted from measured watts */
    PW_POWER_MEASURED, /* the measured watts as they are: no voltages to fit with */
};

/* How well the fit meets the measured watts. */
struct pw_fit {
    double capacitance_f, static_w;
    double worst_relative; /* largest |model - measured| / measured */
    size_t points;
    bool capacitance_clamped, static_clamped; /* least squares wanted it negative: it was set to 0 */
};

struct pw_machine {
    char name[PW_NAME_MAX], title[PW_TITLE_MAX];
    char cpu[256];       /* identity of the CPU (results/machine.h) that it describes; "": not said */
    double reference_hz; /* 0: none */
    struct pw_clock clocks[PW_CLOCKS_MAX];
    size_t clock_count;
    struct pw_term terms[PW_TERMS_MAX];
    size_t term_count; /* 0: the cost of an access is not known */
    double hops;
    double pending;           /* requests in flight at once */
    double access_size_bytes; /* that one access of the model brings */
    enum pw_power_kind power;
    double capacitance_f, static_w; /* GIVEN and FITTED */
    struct pw_fit fit;              /* FITTED */
    struct pw_setting settings[PW_SETTINGS_MAX];
    size_t setting_count;
};

/* Parses a description; `file` is its name in messages. IP_SYNTAX at "file:line". */
IP_CHECK enum ip_status pw_machine_parse(struct pw_machine *machine, const char *file, const char *text,
                                         struct ip_error *err);
/* As pw_machine_parse, from a file. */
IP_CHECK enum ip_status pw_machine_read(struct pw_machine *machine, const char *path, struct ip_error *err);

/* The description as a file that pw_machine_parse takes back. */
void pw_machine_print(struct ip_text *text, const struct pw_machine *machine);

/* Index of the setting with this divisor, or frequency (to half a percent): -1 if none. */
int pw_machine_find_divisor(const struct pw_machine *machine, int divisor);
int pw_machine_find_freq(const struct pw_machine *machine, double freq_hz);

/* Core cycles of one memory access at core clock `freq_hz`, before requests overlap; 0 without terms. */
double pw_machine_access_cycles(const struct pw_machine *machine, double freq_hz);

/* Watts at a setting, NaN when unknown. */
double pw_machine_power_w(const struct pw_machine *machine, size_t setting);

/* Decides machine->power from what the description holds; fits where needed. Called by the parser and by
 * whoever fills a machine otherwise. */
void pw_machine_settle(struct pw_machine *machine, bool capacitance_given);

#endif
