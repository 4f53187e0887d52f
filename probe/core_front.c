/* SPDX-License-Identifier: Apache-2.0 */
/* Where instructions come from: instruction cache, µop cache, decoders.
 *
 * Code is made of windows of 64 bytes with a chosen number of instructions. One of them has a length-changing
 * prefix where the decoders shall be told from the µop cache: it costs them some cycles and the cache none.
 */
#include <math.h>
#include <stdlib.h>

#include "probe/core_groups.h"

enum {
    WINDOW = 64,    /* bytes */
    MARK_BYTES = 5, /* of the instruction with the prefix */
    L1I_STEP = 4096,
    L1I_MAX = 96 * 1024,
    DENSE_MAX = 56, /* instructions in a window */
    LOST_MAX = 2,   /* points of a sweep that cannot be trusted, and the others still can */
    FINE = 8,       /* points between two of the list of sizes */
    FEW = 4,        /* windows that any µop cache holds */
};

/* Instructions in a window for which the µop cache's capacity is measured. */
static const unsigned densities[] = {6, 8, 12, 16, 18, 24};
enum { DENSITIES = sizeof densities / sizeof densities[0] };

/* Capacities that two numbers of instructions in a window tell differ by no more, relative. */
static const double AGREEMENT = 0.35;

/* More cycles than its slots need: a window that the decoders make. */
static const double DECODED_MORE = 0.4;

static void one_loop(struct gen_program *program, unsigned forms) {
    program->one_loop = true;
    program->copies = 1;
    program->forms_per_unit = forms;
}

/* `count` windows of `density` instructions; `mark` 0: NOPs only, 1: the first is a test with an immediate of
 * 16 bits, whose prefix changes its length, 2: one of as many bytes without. */
static void windows_write(struct gen_program *program, unsigned count, unsigned density, int mark) {
    static const char *const marks[] = {"", "db 0x66,0xf7,0xc0,0x34,0x12", "db 0xa9,0x34,0x12,0,0"};
    core_program_init(program, "core: %u windows of %u instructions", count, density);
    for (unsigned i = 0; i < count; i++) {
        unsigned bytes = WINDOW, left = density;
        if (mark != 0) {
            ip_lines_add(&program->unit, marks[mark]);
            bytes -= MARK_BYTES;
            left--;
        }
        for (; left > 0; left--) {
            unsigned length = (bytes + left - 1) / left;
            core_nops(&program->unit, length > 15 ? 15 : length, 1);
            bytes -= length;
        }
    }
    one_loop(program, count);
}

static void l1i_write(const void *self, unsigned x, struct gen_program *program) {
    (void)self;
    windows_write(program, x / WINDOW, WINDOW / 4, 0);
}

static void dense_write(const void *self, unsigned x, struct gen_program *program) {
    (void)self;
    windows_write(program, FEW, x, 1);
}

/* x is a number of windows, or its place in a list. */
struct capacity {
    unsigned density;
    const unsigned *list; /* NULL: none */
};

static void capacity_write(const void *self, unsigned x, struct gen_program *program) {
    const struct capacity *capacity = self;
    windows_write(program, capacity->list != NULL ? capacity->list[x] : x, capacity->density, 1);
}

struct front {
    struct core_session *session;
    struct core_curve *curve;
    double l1i;                /* bytes; 0: not seen */
    unsigned dense;            /* most instructions of a window that the µop cache takes; 0: there is none */
    double windows[DENSITIES]; /* that the µop cache holds; INFINITY: all that the instruction cache does */
};

static enum ip_status too_few(struct core_session *session, const char *key, bool lacks,
                              struct ip_error *err) {
    session->tally->untrusted += !lacks;
    return core_learn(session, key, NAN, NAN, err,
                      lacks ? "not known: this CPU lacks a form that it needs"
                            : "not known: too few kernels could be trusted");
}

static enum ip_status l1i_measure(struct front *front, struct ip_error *err) {
    const struct core_sweep sweep = {.write = l1i_write};
    struct core_curve *curve = front->curve;
    enum ip_status status =
        core_sweep_run(front->session, &sweep, 2 * L1I_STEP, L1I_MAX, L1I_STEP, curve, err);
    if (status != IP_OK) {
        return status;
    }
    if (curve->lost > curve->count) {
        return too_few(front->session, "l1i_bytes", curve->lacks, err);
    }
    /* The largest step is the one behind it. */
    size_t at = 0;
    double most = 1.15;
    for (size_t i = 0; i + 2 < curve->count; i++) {
        double ratio = curve->points[i + 2].y / curve->points[i].y;
        if (ratio > most) {
            most = ratio;
            at = i + 1;
        }
    }
    if (at == 0) {
        return core_learn(front->session, "l1i_bytes", NAN, NAN, err,
                          "not seen: code of up to %d KiB runs at one speed", L1I_MAX / 1024);
    }
    double before = curve->points[at - 1].y;
    front->l1i = curve->points[at].y < 1.15 * before ? curve->points[at].x : curve->points[at - 1].x;
    return core_learn(front->session, "l1i_bytes", front->l1i, L1I_STEP / front->l1i, err,
                      "NOPs of 4 bytes: behind it they take %.2f times as long", most);
}

static enum ip_status dense_measure(struct front *front, struct ip_error *err) {
    const struct core_sweep sweep = {.write = dense_write};
    struct core_session *session = front->session;
    struct core_curve *curve = front->curve;
    enum ip_status status = core_sweep_run(session, &sweep, 6, DENSE_MAX, 1, curve, err);
    if (status != IP_OK) {
        return status;
    }
    if (curve->lost > curve->count) {
        return too_few(session, "uop_cache_window", curve->lacks, err);
    }
    /* The last that is as fast as its slots: a point before it can be slow by itself. */
    size_t staying = curve->count;
    while (staying > 0 &&
           curve->points[staying - 1].y >= curve->points[staying - 1].x / session->width + DECODED_MORE) {
        staying--;
    }
    if (staying == curve->count) {
        front->dense = DENSE_MAX;
        return core_learn(session, "uop_cache_window", NAN, NAN, err,
                          "not seen: even %d instructions in 64 bytes run at the issue width", DENSE_MAX);
    }
    front->dense = staying > 0 ? (unsigned)curve->points[staying - 1].x : 0;
    return core_learn(session, "uop_cache_window", front->dense, 0, err,
                      "%d windows of 64 bytes: more instructions are decoded again and again", FEW);
}

/* How many windows of a density stay in the µop cache: 0 none, INFINITY all up to `end`, NaN not known. */
static enum ip_status windows_measure(struct front *front, unsigned density, double end, double *windows,
                                      struct ip_error *err) {
    static const unsigned list[] = {4,  6,   8,   12,  16,  24,  32,  48,   64,
                                    96, 128, 192, 256, 384, 512, 768, 1024, 1536};
    unsigned count = sizeof list / sizeof list[0];
    while (count > 1 && list[count - 1] > end) {
        count--;
    }
    struct core_curve *curve = front->curve;
    struct capacity capacity = {density, list};
    const struct core_sweep sweep = {.write = capacity_write, .self = &capacity, .wavering = true};
    enum ip_status status = core_sweep_run(front->session, &sweep, 0, count - 1, 1, curve, err);
    *windows = NAN;
    if (status != IP_OK || curve->lost > LOST_MAX) {
        front->session->tally->untrusted += status == IP_OK && !curve->lacks;
        return status;
    }
    size_t staying = probe_departure(curve->points, curve->count, 0.1, 1.3);
    if (staying == curve->count || staying == 0) {
        *windows = staying == 0 ? 0 : INFINITY;
        return IP_OK;
    }
    double level = curve->points[staying - 1].y, top = curve->points[curve->count - 1].y;
    unsigned low = list[(size_t)curve->points[staying - 1].x], high = list[(size_t)curve->points[staying].x];
    unsigned step = (high - low + FINE - 1) / FINE;
    *windows = low;
    capacity.list = NULL;
    status = core_sweep_run(front->session, &sweep, low, high, step, curve, err);
    for (size_t i = 0; i < curve->count && status == IP_OK; i++) {
        if (curve->points[i].y > level + 0.1 * (top - level)) {
            break;
        }
        *windows = curve->points[i].x;
    }
    return status;
}

static enum ip_status capacity_measure(struct front *front, struct ip_error *err) {
    struct core_session *session = front->session;
    double slots = 0, second = 0, bytes = 0,
           line = probe_core_get(session->settled, PROBE_CORE_UOP_CACHE_WIDTH);
    unsigned best = 0;
    double end = (front->l1i > 0 ? front->l1i : L1I_MAX) / WINDOW;
    enum ip_status status = IP_OK;
    for (unsigned i = 0; i < DENSITIES && status == IP_OK; i++) {
        front->windows[i] = 0;
        if (densities[i] <= front->dense) {
            status = windows_measure(front, densities[i], end, &front->windows[i], err);
        }
        if (isfinite(front->windows[i])) {
            /* A window takes whole lines; without their width, as many slots as it has instructions. */
            double held = front->windows[i] * (isnan(line) ? densities[i] : ceil(densities[i] / line) * line);
            bytes = fmax(bytes, front->windows[i] * WINDOW);
            second = held > slots ? slots : fmax(second, held);
            best = held > slots ? i : best;
            slots = fmax(slots, held);
        }
    }
    if (status != IP_OK) {
        return status;
    }
    if (slots == 0) {
        bool known = true;
        for (unsigned d = 0; d < DENSITIES; d++) {
            known = known && !isnan(front->windows[d]);
        }
        if (!known) {
            status = too_few(session, "uop_cache_slots", front->curve->lacks, err);
            return status == IP_OK ? too_few(session, "uop_cache_bytes", front->curve->lacks, err) : status;
        }
        status =
            core_learn(session, "uop_cache_slots", NAN, NAN, err, "%s",
                       front->dense == 0 ? "not seen: the decoders are as fast, or there is none"
                                         : "not seen: nothing changes before the instruction cache is full");
        return status == IP_OK ? core_learn(session, "uop_cache_bytes", NAN, NAN, err, "as uop_cache_slots")
                               : status;
    }
    double spread = fmax(1 / front->windows[best], (slots - second) / slots);
    if (spread > AGREEMENT) { /* something else evicts the code, or is slow */
        session->tally->untrusted++;
        status = core_learn(session, "uop_cache_slots", NAN, NAN, err,
                            "not known: %.0f windows of %u instructions, but no other number comes near",
                            front->windows[best], densities[best]);
        return status == IP_OK ? core_learn(session, "uop_cache_bytes", NAN, NAN, err, "as uop_cache_slots")
                               : status;
    }
    status =
        core_learn(session, "uop_cache_slots", slots, spread, err,
                   "%.0f windows of %u instructions, in whole lines; as other numbers, within the spread",
                   front->windows[best], densities[best]);
    return status == IP_OK ? core_learn(session, "uop_cache_bytes", bytes, WINDOW / bytes, err,
                                        "the most code that the µop cache held, of those that it did not")
                           : status;
}

/* Does code of `windows` windows with `density` instructions come from the decoders? */
static bool decoded(const struct front *front, double windows, double density) {
    if (density > front->dense) {
        return true;
    }
    for (unsigned i = DENSITIES; i > 0; i--) { /* what fewer instructions fill, more do */
        if (densities[i - 1] <= density && !isnan(front->windows[i - 1])) {
            return front->windows[i - 1] * 1.2 < windows;
        }
    }
    return false;
}

static enum ip_status decoders_measure(struct front *front, struct ip_error *err) {
    enum { LENGTHS = 15, WIDE = LENGTHS, PLAIN, MARKED, KERNELS, MARKED_DENSITY = 12 };
    struct core_session *session = front->session;
    size_t slots[KERNELS];
    unsigned windows = (unsigned)(front->l1i * 0.75 / WINDOW);
    enum ip_status status = IP_OK;
    for (unsigned i = 0; i < KERNELS && status == IP_OK; i++) {
        struct gen_program program;
        if (i < LENGTHS) {
            unsigned count = windows * WINDOW / (i + 1);
            core_program_init(&program, "core: %u NOPs of %u bytes", count, i + 1);
            core_nops(&program.unit, i + 1, count);
            one_loop(&program, count);
        } else if (i == WIDE) {
            unsigned count = windows * WINDOW / 20;
            core_program_init(&program, "core: %u mov of 10 bytes", 2 * count);
            core_lines(&program.unit, "mov rax, 0x123456789abcdef0; mov rcx, 0x123456789abcdef0", count);
            one_loop(&program, 2 * count);
        } else {
            windows_write(&program, windows, MARKED_DENSITY, i == MARKED ? 1 : 2);
        }
        status = core_add(session, &program, &slots[i], err);
    }
    status = status == IP_OK ? core_run(session, err) : status;
    if (status != IP_OK) {
        return status;
    }
    double width = 0, bytes = 0;
    unsigned width_from = 0, bytes_from = 0;
    for (unsigned i = 0; i < LENGTHS; i++) {
        double rate = 1 / core_cycles(session, slots[i]);
        if (!decoded(front, windows, (double)WINDOW / (i + 1))) {
            continue;
        }
        if (rate > width) {
            width = rate;
            width_from = i + 1;
        }
        if (rate * (i + 1) > bytes) {
            bytes = rate * (i + 1);
            bytes_from = i + 1;
        }
    }
    double wide = 10 / core_cycles(session, slots[WIDE]);
    if (wide > bytes && decoded(front, windows, WINDOW / 10.0)) {
        bytes = wide;
        bytes_from = 10;
    }
    bool measured = false;
    for (unsigned i = 0; i < LENGTHS; i++) {
        measured = measured || !isnan(core_cycles(session, slots[i]));
    }
    static const char held[] = "not seen: the µop cache held all code, or may have";
    if (!measured) {
        status = too_few(session, "decode_width", false, err);
    } else if (width > 0) {
        bool bound = width > session->width * 0.93;
        status =
            core_learn(session, "decode_width", bound ? session->width : core_near_integer(width, 0.3), 0,
                       err, "%sNOPs of %u bytes: %.2f a cycle", bound ? "at least: " : "", width_from, width);
    } else {
        status = core_learn(session, "decode_width", NAN, NAN, err, "%s", held);
    }
    if (status == IP_OK) {
        status = bytes > 0  ? core_learn(session, "predecode_bytes", core_near_integer(bytes, 0.3), 0, err,
                                         "instructions of %u bytes: %.2f bytes a cycle", bytes_from, bytes)
                 : measured ? core_learn(session, "predecode_bytes", NAN, NAN, err, "%s", held)
                            : too_few(session, "predecode_bytes", false, err);
    }
    double stall = core_cycles(session, slots[MARKED]) - core_cycles(session, slots[PLAIN]);
    if (status == IP_OK && decoded(front, windows, MARKED_DENSITY) && !isnan(stall)) {
        status = core_learn(session, "lcp_stall", stall > 0.3 ? stall : 0, 0, err,
                            "one in each window of %d instructions", MARKED_DENSITY);
    } else if (status == IP_OK) {
        status = isnan(stall) ? too_few(session, "lcp_stall", false, err)
                              : core_learn(session, "lcp_stall", NAN, NAN, err, "%s", held);
    }
    return status;
}

enum ip_status core_front_measure(struct core_session *session, struct ip_error *err) {
    struct front front = {.session = session, .curve = malloc(sizeof *front.curve)};
    if (front.curve == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for a sweep");
    }
    enum ip_status status = l1i_measure(&front, err);
    status = status == IP_OK ? dense_measure(&front, err) : status;
    status = status == IP_OK ? capacity_measure(&front, err) : status;
    if (status == IP_OK && front.l1i > 0) {
        status = decoders_measure(&front, err);
    } else if (status == IP_OK) {
        static const char *const keys[] = {"decode_width", "predecode_bytes", "lcp_stall"};
        for (unsigned i = 0; i < 3 && status == IP_OK; i++) {
            status = core_learn(session, keys[i], NAN, NAN, err,
                                "not known: the instruction cache's size is needed");
        }
    }
    free(front.curve);
    return status == IP_OK ? core_learn(session, "decode_complex", NAN, NAN, err,
                                        "not known: instructions of several slots are bound elsewhere, too")
                           : status;
}
