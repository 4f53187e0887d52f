/* SPDX-License-Identifier: Apache-2.0 */
/* results/ports.c - the port map in the store: as it was measured, so that other commands need not measure it
 * again. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/decode.h"
#include "results/sql.h"

#define PORT_NAMES "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ?"

static const char *kind_name(bool load, bool store) {
    return load ? "load" : store ? "store" : "core";
}

static void bind_position(struct res_binder *binder, int position) {
    if (position >= 0) {
        res_bind_integer(binder, position);
    } else {
        res_bind_null(binder);
    }
}

/* --- writing ------------------------------------------------------------------------------------------- */

static enum ip_status map_put(struct res_store *store, const struct probe_portmap *map,
                              struct ip_error *err) {
    struct ip_text notes = {0};
    for (size_t i = 0; i < map->notes.count; i++) {
        ip_text_printf(&notes, "%s%s", i > 0 ? "\n" : "", map->notes.items[i]);
    }
    if (notes.failed) {
        ip_text_fini(&notes);
        return ip_fail(err, IP_NO_MEMORY, "out of memory for the port map of the store '%.200s'",
                       store->path);
    }
    struct res_binder binder;
    enum ip_status status = res_bind_begin(store, RES_QUERY_PORTMAP_PUT, &binder, err);
    if (status == IP_OK) {
        res_bind_text(&binder, map->names);
        res_bind_text(&binder, map->store_address);
        res_bind_real(&binder, map->issue_width);
        res_bind_integer(&binder, map->solutions);
        res_bind_integer(&binder, map->more_solutions);
        res_bind_text(&binder, ip_text_string(&notes));
        res_bind_integer(&binder, (int64_t)map->kernels);
        bind_position(&binder, store->run_id != 0 ? (int)store->run_id : -1);
        status = res_bind_run(store, &binder, err);
    }
    ip_text_fini(&notes);
    return status;
}

static enum ip_status class_put(struct res_store *store, const struct probe_portmap *map, unsigned number,
                                struct ip_error *err) {
    const struct probe_port_class *class = &map->classes[number];
    char ports[PROBE_PORTSET_PORTS + 1], alternatives[PROBE_PORTSET_SOLUTIONS * 12] = "";
    size_t used = 0;
    for (unsigned s = 0; s < map->solutions && s < PROBE_PORTSET_SOLUTIONS; s++) {
        used += (size_t)snprintf(alternatives + used, sizeof alternatives - used, "%s%lu", s > 0 ? " " : "",
                                 (unsigned long)map->alternatives.sets[s][number]);
    }
    struct res_binder binder;
    enum ip_status status = res_bind_begin(store, RES_QUERY_PORT_CLASS_PUT, &binder, err);
    if (status != IP_OK) {
        return status;
    }
    res_bind_integer(&binder, number);
    res_bind_text(&binder, probe_ports_print(map, class->ports, ports));
    res_bind_integer(&binder, class->width);
    res_bind_text(&binder, kind_name(class->load, class->store));
    res_bind_integer(&binder, class->worlds);
    res_bind_integer(&binder, class->members);
    for (unsigned w = 0; w < 3; w++) {
        bind_position(&binder, class->blocker[w]);
    }
    res_bind_real(&binder, class->residual);
    res_bind_integer(&binder, class->contradicted);
    res_bind_text(&binder, alternatives);
    return res_bind_run(store, &binder, err);
}

static enum ip_status member_put(struct res_store *store, const struct probe_portmap *map, size_t number,
                                 struct ip_error *err) {
    const struct probe_port_member *member = &map->members[number];
    struct res_binder binder;
    enum ip_status status = res_bind_begin(store, RES_QUERY_PORT_MEMBER_PUT, &binder, err);
    if (status != IP_OK) {
        return status;
    }
    res_bind_integer(&binder, (int64_t)number);
    res_bind_text(&binder, member->form->syntax);
    res_bind_integer(&binder, member->scaled);
    res_bind_text(&binder, kind_name(member->load, member->store));
    res_bind_integer(&binder, member->world);
    res_bind_real(&binder, member->cycles);
    res_bind_real(&binder, member->slots);
    res_bind_integer(&binder, member->width);
    bind_position(&binder, member->class);
    return res_bind_run(store, &binder, err);
}

enum ip_status res_portmap_put(struct res_store *store, const struct probe_portmap *map,
                               struct ip_error *err) {
    if (!map->confirmed) {
        return ip_fail(err, IP_UNTRUSTED,
                       "no port map goes into the store '%.200s' that nothing confirms: leave the "
                       "machine idle and measure it again",
                       store->path);
    }
    enum ip_status status = res_transaction_begin(store, err);
    if (status != IP_OK) {
        return status;
    }
    status =
        res_sql_exec(store, "DELETE FROM port_members; DELETE FROM port_classes; DELETE FROM portmap;", err);
    status = status == IP_OK ? map_put(store, map, err) : status;
    for (unsigned c = 0; c < map->class_count && status == IP_OK; c++) {
        status = class_put(store, map, c, err);
    }
    for (size_t m = 0; m < map->member_count && status == IP_OK; m++) {
        status = member_put(store, map, m, err);
    }
    return res_transaction_end(store, status, err);
}

/* --- reading ------------------------------------------------------------------------------------------- */

static enum ip_status damaged(const struct res_store *store, struct ip_error *err) {
    return ip_fail(err, IP_IO,
                   "the port map in the store '%.200s' is not whole: 'isaprobe scan --force' measures it "
                   "again",
                   store->path);
}

static void notes_get(struct probe_portmap *map, const char *text) {
    while (text != NULL && *text != '\0') {
        size_t length = strcspn(text, "\n");
        ip_lines_printf(&map->notes, "%.*s", (int)length, text);
        text += length + (text[length] == '\n');
    }
}

/* A number that a later version wrote is of systems that may differ in anything. */
static enum probe_portset_more more_of(int number) {
    return number == PROBE_PORTSET_NO_MORE || number == PROBE_PORTSET_MORE_ALIKE
               ? (enum probe_portset_more)number
               : PROBE_PORTSET_MORE;
}

static enum ip_status map_get(struct res_store *store, struct probe_portmap *map, bool *found,
                              struct ip_error *err) {
    struct res_binder binder;
    enum ip_status status = res_bind_begin(store, RES_QUERY_PORTMAP_GET, &binder, err);
    if (status != IP_OK) {
        return status;
    }
    sqlite3_stmt *at = binder.statement;
    status = res_sql_step(store, at, found, err);
    if (status == IP_OK && *found) {
        map->confirmed = true; /* no other is stored */
        res_column_text(at, 0, map->names, sizeof map->names);
        res_column_text(at, 1, map->store_address, sizeof map->store_address);
        map->port_count = (unsigned)strlen(map->names);
        map->issue_width = res_column_real(at, 2);
        map->solutions = (unsigned)sqlite3_column_int(at, 3);
        map->more_solutions = more_of(sqlite3_column_int(at, 4));
        notes_get(map, (const char *)sqlite3_column_text(at, 5));
        map->kernels = (size_t)sqlite3_column_int64(at, 6);
        (void)sqlite3_reset(at);
    }
    return status;
}

static int column_position(sqlite3_stmt *at, int column) {
    return sqlite3_column_type(at, column) != SQLITE_NULL ? sqlite3_column_int(at, column) : -1;
}

static void class_read(sqlite3_stmt *at, struct probe_portmap *map) {
    unsigned number = map->class_count++;
    struct probe_port_class *class = &map->classes[number];
    char text[PROBE_PORTSET_SOLUTIONS * 12];
    res_column_text(at, 0, text, sizeof text);
    for (const char *port = text; *port != '\0'; port++) {
        const char *name = strchr(map->names, *port);
        class->ports |= name != NULL ? 1u << (name - map->names) : 0;
    }
    class->width = (unsigned)sqlite3_column_int(at, 1);
    res_column_text(at, 2, text, sizeof text);
    class->load = strcmp(text, "load") == 0;
    class->store = strcmp(text, "store") == 0;
    class->worlds = (unsigned)sqlite3_column_int(at, 3);
    class->members = (unsigned)sqlite3_column_int(at, 4);
    for (int w = 0; w < 3; w++) {
        class->blocker[w] = column_position(at, 5 + w);
    }
    class->residual = res_column_real(at, 8);
    class->contradicted = sqlite3_column_int(at, 9) != 0;
    res_column_text(at, 10, text, sizeof text);
    char *next = text;
    for (unsigned s = 0; s < map->solutions && s < PROBE_PORTSET_SOLUTIONS; s++) {
        map->alternatives.sets[s][number] = (uint32_t)strtoul(next, &next, 10);
    }
}

static enum ip_status classes_get(struct res_store *store, struct probe_portmap *map, struct ip_error *err) {
    struct res_binder binder;
    enum ip_status status = res_bind_begin(store, RES_QUERY_PORT_CLASSES_GET, &binder, err);
    bool row = status == IP_OK;
    while (status == IP_OK && row) {
        status = res_sql_step(store, binder.statement, &row, err);
        if (status == IP_OK && row && map->class_count == PROBE_PORTSET_CLASSES) {
            (void)sqlite3_reset(binder.statement);
            return damaged(store, err);
        }
        if (status == IP_OK && row) {
            class_read(binder.statement, map);
        }
    }
    map->alternatives.count = map->solutions;
    map->alternatives.ports = map->port_count;
    map->alternatives.more = map->more_solutions;
    return status;
}

static void member_read(sqlite3_stmt *at, struct probe_port_member *member) {
    char kind[8];
    member->scaled = sqlite3_column_int(at, 1) != 0;
    res_column_text(at, 2, kind, sizeof kind);
    member->load = strcmp(kind, "load") == 0;
    member->store = strcmp(kind, "store") == 0;
    member->world = (unsigned)sqlite3_column_int(at, 3);
    member->cycles = res_column_real(at, 4);
    member->slots = res_column_real(at, 5);
    member->width = (unsigned)sqlite3_column_int(at, 6);
    member->class = column_position(at, 7);
}

static enum ip_status members_get(struct res_store *store, const struct isa_table *table,
                                  struct probe_portmap *map, bool *found, struct ip_error *err) {
    struct res_binder binder;
    size_t capacity = 0;
    enum ip_status status = res_bind_begin(store, RES_QUERY_PORT_MEMBERS_GET, &binder, err);
    bool row = status == IP_OK;
    while (status == IP_OK && row && *found) {
        status = res_sql_step(store, binder.statement, &row, err);
        if (status != IP_OK || !row) {
            break;
        }
        if (map->member_count == capacity) {
            capacity = capacity != 0 ? 2 * capacity : 256;
            struct probe_port_member *members = realloc(map->members, capacity * sizeof *members);
            if (members == NULL) {
                status = ip_fail(err, IP_NO_MEMORY, "out of memory for the port map of the store '%.200s'",
                                 store->path);
                break;
            }
            map->members = members;
        }
        char syntax[ISA_SYNTAX_MAX];
        res_column_text(binder.statement, 0, syntax, sizeof syntax);
        struct probe_port_member *member = &map->members[map->member_count];
        memset(member, 0, sizeof *member);
        member_read(binder.statement, member);
        member->form = isa_table_find(table, syntax);
        *found = member->form != NULL;
        map->member_count += *found;
    }
    if (status == IP_OK || status == IP_NO_MEMORY) {
        (void)sqlite3_reset(binder.statement);
    }
    return status;
}

static bool is_whole(const struct probe_portmap *map) {
    bool whole = map->class_count > 0 && map->member_count > 0 && isfinite(map->issue_width) &&
                 map->solutions <= PROBE_PORTSET_SOLUTIONS;
    for (unsigned c = 0; c < map->class_count; c++) {
        for (unsigned w = 0; w < 3; w++) {
            whole = whole && map->classes[c].blocker[w] < (int)map->member_count;
        }
    }
    for (size_t m = 0; m < map->member_count; m++) {
        whole = whole && map->members[m].class < (int)map->class_count;
    }
    return whole;
}

/* Members become kernels, so they must be derived. */
static enum ip_status members_derive(const struct probe_portmap *map, struct ip_error *err) {
    struct isa_form **forms = calloc(map->member_count + 1, sizeof(struct isa_form *));
    if (forms == NULL) {
        return ip_fail(err, IP_NO_MEMORY, "out of memory for %zu forms of the port map", map->member_count);
    }
    for (size_t m = 0; m < map->member_count; m++) {
        forms[m] = map->members[m].form;
    }
    enum ip_status status = isa_forms_derive(forms, map->member_count, err);
    free(forms);
    return status;
}

enum ip_status res_portmap_get(struct res_store *store, const struct isa_table *table,
                               struct probe_portmap *map, bool *found, struct ip_error *err) {
    struct probe_portmap read = {0};
    bool there = false;
    enum ip_status status = map_get(store, &read, &there, err);
    if (status == IP_OK && there) {
        status = classes_get(store, &read, err);
    }
    if (status == IP_OK && there) {
        status = members_get(store, table, &read, &there, err);
    }
    if (status == IP_OK && there) {
        status = read.notes.failed ? ip_fail(err, IP_NO_MEMORY, "out of memory for the port map")
                 : is_whole(&read) ? members_derive(&read, err)
                                   : damaged(store, err);
    }
    if (status != IP_OK || !there) {
        probe_portmap_fini(&read);
    } else {
        probe_portmap_align(&read); /* one that was stored before the systems' ports were named alike */
        *map = read;
    }
    *found = status == IP_OK && there;
    return status;
}

enum ip_status res_units_get(struct res_store *store, struct probe_units *units, struct ip_error *err) {
    struct res_binder binder;
    enum ip_status status = res_bind_begin(store, RES_QUERY_UNITS_GET, &binder, err);
    bool row = true;
    while (status == IP_OK && units->known_count < PROBE_UNITS_MAX) {
        status = res_sql_step(store, binder.statement, &row, err);
        if (status != IP_OK || !row) {
            return status;
        }
        char *name = units->known[units->known_count++];
        res_column_text(binder.statement, 0, name, PROBE_UNIT_NAME);
    }
    if (status == IP_OK) {
        (void)sqlite3_reset(binder.statement);
    }
    return status;
}

bool res_ports_parse(const char *usage, struct res_port_term *terms, unsigned limit, unsigned *count) {
    unsigned found = 0;
    const char *at = strcmp(usage, "none") == 0 ? "" : usage;
    while (*at != '\0') {
        char *end = NULL;
        double uops = strtod(at, &end);
        if (end == at || !(uops > 0) || end[0] != '*' || end[1] != 'p' || found == limit) {
            return false;
        }
        at = end + 2;
        size_t length = strspn(at, PORT_NAMES);
        if (length == 0 || (at[length] != '\0' && at[length] != '+') || length > PROBE_PORTSET_PORTS ||
            (at[length] == '+' && at[length + 1] == '\0')) {
            return false;
        }
        (void)snprintf(terms[found].ports, sizeof terms[found].ports, "%.*s", (int)length, at);
        terms[found++].uops = uops;
        at += length + (at[length] == '+');
    }
    *count = found;
    return true;
}
