/* SPDX-License-Identifier: Apache-2.0 */
/* results/store.c - opening a store: is it one, is it whole, is it ours? */
#include "results/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/schema.h"
#include "results/sql.h"

enum { BUSY_MS = 5000, OLDEST_SCHEMA = 1 };

void res_store_close(struct res_store *store) {
    if (store == NULL) {
        return;
    }
    for (size_t i = 0; i < RES_QUERIES; i++) {
        (void)sqlite3_finalize(store->statements[i]);
    }
    /* The last one to leave moves the write-ahead log into the file. Where that fails (disk full) the log
     * stays, and belongs to the store. */
    (void)sqlite3_close(store->db);
    res_lock_drop(&store->lock);
    free(store->path);
    free(store);
}

static enum ip_status store_new(struct res_store **store, const char *path, struct ip_error *err) {
    struct res_store *made = calloc(1, sizeof *made);
    char *name = strdup(path);
    if (made == NULL || name == NULL) {
        free(made);
        free(name);
        return ip_fail(err, IP_NO_MEMORY, "out of memory for the store '%.200s'", path);
    }
    made->path = name;
    made->lock.fd = -1;
    *store = made;
    return IP_OK;
}

/* For SQLite some names are no file's: ":memory:", "" and what begins with "file:". Behind a ./ all are. */
static void file_begin(struct ip_text *name, const char *path) {
    ip_text_append(name, path[0] == '/' ? "" : "./");
}

/* Connects to what `name` says, which is finished. */
static enum ip_status connect(struct res_store *store, struct ip_text *name, int flags,
                              struct ip_error *err) {
    enum ip_status status = IP_OK;
    if (name->failed) {
        status = ip_fail(err, IP_NO_MEMORY, "out of memory for the store '%.200s'", store->path);
    } else if (sqlite3_open_v2(name->data, &store->db, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) {
        status = res_sql_fail(store->db, store->path, err);
    } else {
        (void)sqlite3_extended_result_codes(store->db, 1);
        (void)sqlite3_busy_timeout(store->db, BUSY_MS);
    }
    ip_text_fini(name);
    return status;
}

static enum ip_status connect_file(struct res_store *store, int flags, struct ip_error *err) {
    struct ip_text name = {0};
    file_begin(&name, store->path);
    ip_text_append(&name, store->path);
    return connect(store, &name, flags, err);
}

/* The one value, number or text, that a query gives. Its text goes to `text` unless that is NULL. */
static enum ip_status single(struct res_store *store, const char *sql, int64_t *number, struct ip_text *text,
                             struct ip_error *err) {
    sqlite3_stmt *statement = NULL;
    enum ip_status status = IP_OK;
    if (sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL) != SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_ROW) {
        status = res_sql_fail(store->db, store->path, err);
    } else {
        *number = sqlite3_column_int64(statement, 0);
        const unsigned char *words = sqlite3_column_text(statement, 0);
        if (text != NULL) {
            ip_text_clear(text);
            ip_text_append(text, words != NULL ? (const char *)words : "");
        }
    }
    (void)sqlite3_finalize(statement);
    if (status == IP_OK && text != NULL && text->failed) {
        status = ip_fail(err, IP_NO_MEMORY, "out of memory for the store '%.200s'", store->path);
    }
    return status;
}

/* *empty: nothing is in the file yet, be it new or left by a scan that was killed before its first write. */
static enum ip_status schema_check(struct res_store *store, bool *empty, struct ip_error *err) {
    int64_t version = 0, application = 0, tables = 0;
    enum ip_status status = single(store, "SELECT count(*) FROM sqlite_master", &tables, NULL, err);
    if (status == IP_OK) {
        status = single(store, "PRAGMA user_version", &version, NULL, err);
    }
    if (status == IP_OK) {
        status = single(store, "PRAGMA application_id", &application, NULL, err);
    }
    if (status != IP_OK) {
        return status;
    }
    *empty = tables == 0 && version == 0 && application == 0;
    if (*empty) {
        return IP_OK;
    }
    if (application != RES_APPLICATION_ID) {
        return ip_fail(
            err, IP_FAILED,
            "'%.200s' is an SQLite file of another program: it was left as it is; give another --store "
            "FILE",
            store->path);
    }
    if (version > RES_SCHEMA_VERSION) {
        return ip_fail(
            err, IP_FAILED,
            "the store '%.200s' has schema %lld, and this isaprobe knows %d: use the newer isaprobe "
            "that wrote it, or another --store FILE",
            store->path, (long long)version, RES_SCHEMA_VERSION);
    }
    if (version < OLDEST_SCHEMA) {
        return ip_fail(
            err, IP_FAILED,
            "the store '%.200s' has schema %lld, which no isaprobe ever wrote: give another --store FILE",
            store->path, (long long)version);
    }
    store->schema = (int)version;
    return IP_OK;
}

/* A reader leaves an older store as it is, and cannot read what it lacks. */
static enum ip_status current_check(const struct res_store *store, struct ip_error *err) {
    if (store->schema == RES_SCHEMA_VERSION) {
        return IP_OK;
    }
    return ip_fail(err, IP_FAILED,
                   "the store '%.200s' has the older schema %d: 'isaprobe scan' of any form into it makes it "
                   "%d, and keeps all that it has",
                   store->path, store->schema, RES_SCHEMA_VERSION);
}

/* To this schema, all or nothing. What is there is kept. */
static enum ip_status upgrade(struct res_store *store, struct ip_error *err) {
    struct ip_text sql = {0};
    ip_text_append(&sql, res_schema_upgrade_sql);
    ip_text_printf(&sql, "PRAGMA user_version = %d; UPDATE meta SET value = '%d' WHERE key = 'schema';",
                   RES_SCHEMA_VERSION, RES_SCHEMA_VERSION);
    enum ip_status status =
        sql.failed ? ip_fail(err, IP_NO_MEMORY, "out of memory for the store '%.200s'", store->path)
                   : res_transaction_begin(store, err);
    if (status == IP_OK) {
        status = res_sql_exec(store, ip_text_string(&sql), err);
        status = res_transaction_end(store, status, err);
    }
    ip_text_fini(&sql);
    return status;
}

static enum ip_status damage_check(struct res_store *store, struct ip_error *err) {
    struct ip_text words = {0};
    int64_t ignored = 0;
    enum ip_status status = single(store, "PRAGMA quick_check(1)", &ignored, &words, err);
    if (status == IP_OK && strcmp(ip_text_string(&words), "ok") != 0) {
        char *line = words.data; /* the first may be a heading: "*** in database main ***" */
        line += strncmp(line, "***", 3) == 0 ? strcspn(line, "\n") : 0;
        line += *line == '\n';
        line[strcspn(line, "\n")] = '\0';
        status = ip_fail(
            err, IP_IO,
            "the store '%.200s' is damaged (%.120s) and was left as it is: move it away and scan again; "
            "sqlite3's .recover saves what is readable",
            store->path, line);
    }
    ip_text_fini(&words);
    return status;
}

static enum ip_status machine_check(struct res_store *store, const struct res_machine *machine,
                                    struct ip_error *err) {
    struct ip_text identity = {0};
    enum ip_status status = res_machine_get(store, &identity, err);
    if (status == IP_OK && !res_machine_is(machine, ip_text_string(&identity))) {
        status = ip_fail(
            err, IP_FAILED,
            "the store '%.100s' is of another CPU (%.100s; this is %.100s): give another --store FILE",
            store->path, ip_text_string(&identity), res_machine_whose(machine));
    }
    ip_text_fini(&identity);
    return status;
}

static enum ip_status machine_put(struct res_store *store, const struct res_machine *machine,
                                  struct ip_error *err) {
    sqlite3_stmt *statement = NULL;
    static const char sql[] = "INSERT INTO machine(id, kind, identity, vendor, brand, codename, family, "
                              "model, stepping, hypervisor,"
                              " tsc_hz, l1d_bytes, l1i_bytes, l2_bytes, l3_bytes, features)"
                              " VALUES(1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    if (sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL) != SQLITE_OK) {
        return res_sql_fail(store->db, store->path, err);
    }
    struct res_binder binder = {.statement = statement};
    res_bind_text(&binder, machine->kind);
    res_bind_text(&binder, machine->identity);
    res_bind_text(&binder, machine->vendor);
    res_bind_text(&binder, machine->brand);
    res_bind_text(&binder, machine->codename);
    res_bind_integer(&binder, machine->family);
    res_bind_integer(&binder, machine->model);
    res_bind_integer(&binder, machine->stepping);
    res_bind_text(&binder, machine->hypervisor);
    const uint64_t numbers[] = {machine->tsc_hz, machine->l1d_bytes, machine->l1i_bytes, machine->l2_bytes,
                                machine->l3_bytes};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (numbers[i] != 0) {
            res_bind_integer(&binder, (int64_t)numbers[i]);
        } else {
            res_bind_null(&binder); /* unknown */
        }
    }
    res_bind_text(&binder, ip_text_string(&machine->features));
    enum ip_status status = res_bind_run(store, &binder, err);
    (void)sqlite3_finalize(statement);
    return status;
}

/* All or nothing: a scan that is killed here leaves an empty file, which the next one takes for a new one. */
static enum ip_status store_make(struct res_store *store, const struct res_machine *machine,
                                 struct ip_error *err) {
    struct ip_text sql = {0};
    ip_text_append(&sql, res_schema_sql);
    ip_text_printf(&sql,
                   "PRAGMA application_id = %d; PRAGMA user_version = %d;"
                   "INSERT INTO meta(key, value) VALUES('schema', '%d'), ('made_by', 'isaprobe %s'),"
                   " ('made', strftime('%%Y-%%m-%%dT%%H:%%M:%%SZ', 'now'));",
                   RES_APPLICATION_ID, RES_SCHEMA_VERSION, RES_SCHEMA_VERSION, ISAPROBE_VERSION);
    enum ip_status status =
        sql.failed ? ip_fail(err, IP_NO_MEMORY, "out of memory for the store '%.200s'", store->path)
                   : res_transaction_begin(store, err);
    if (status == IP_OK) {
        status = res_sql_exec(store, ip_text_string(&sql), err);
        if (status == IP_OK) {
            status = machine_put(store, machine, err);
        }
        status = res_transaction_end(store, status, err);
    }
    ip_text_fini(&sql);
    return status;
}

static enum ip_status store_prepare(struct res_store *store, const struct res_machine *machine,
                                    struct ip_error *err) {
    bool empty = false;
    enum ip_status status = schema_check(store, &empty, err);
    if (status == IP_OK && !empty) {
        status = damage_check(store, err);
        if (status == IP_OK) {
            status = machine_check(store, machine, err);
        }
    }
    /* With the log, a commit needs no wait for the disk, and readers see the store while a scan runs. NORMAL:
     * a power failure may cost the last transactions, never the file. */
    if (status == IP_OK) {
        status = res_sql_exec(store, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;", err);
    }
    if (status == IP_OK && empty) {
        return store_make(store, machine, err);
    }
    return status == IP_OK && store->schema < RES_SCHEMA_VERSION ? upgrade(store, err) : status;
}

/* SQLite would write to a device, and leave its journal beside it. What is not there may become a file. */
static enum ip_status regular_check(const char *path, struct ip_error *err) {
    struct stat about;
    if (stat(path, &about) != 0 || S_ISREG(about.st_mode)) {
        return IP_OK;
    }
    return ip_fail(err, IP_IO, "'%.200s' is no regular file, as a store is: give another --store FILE", path);
}

enum ip_status res_store_open(struct res_store **store, const char *path, const struct res_machine *machine,
                              struct ip_error *err) {
    struct res_store *opened = NULL;
    enum ip_status status = regular_check(path, err);
    status = status == IP_OK ? store_new(&opened, path, err) : status;
    if (status != IP_OK) {
        return status;
    }
    status = res_lock_take(&opened->lock, path, err);
    if (status == IP_OK) {
        status = connect_file(opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, err);
    }
    if (status == IP_OK && sqlite3_db_readonly(opened->db, "main") == 1) {
        status = ip_fail(err, IP_CAPABILITY,
                         "no permission to write the store '%.200s' (--store FILE puts it elsewhere)", path);
    }
    if (status == IP_OK) {
        status = store_prepare(opened, machine, err);
    }
    if (status != IP_OK) {
        res_store_close(opened);
        return status;
    }
    *store = opened;
    return IP_OK;
}

/* A store in a directory where we may not write, or on a full disk, cannot have the shared memory that its
 * write-ahead log needs. When there is no log, nobody writes, and SQLite may take the file as it is. */
static enum ip_status connect_immutable(struct res_store *store, struct ip_error *err) {
    struct ip_text name = {0};
    ip_text_append(&name, "file:");
    file_begin(&name, store->path);
    for (const char *at = store->path; *at != '\0'; at++) {
        if (*at == '?' || *at == '#' || *at == '%') {
            ip_text_printf(&name, "%%%02x", (unsigned)(unsigned char)*at);
        } else {
            ip_text_append_bytes(&name, at, 1);
        }
    }
    ip_text_append(&name, "?immutable=1");
    (void)sqlite3_close(store->db);
    store->db = NULL;
    return connect(store, &name, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, err);
}

/* Is that how reading it failed? */
static bool memory_refused(sqlite3 *db) {
    int reason = sqlite3_errcode(db) & 0xff;
    return reason == SQLITE_CANTOPEN || reason == SQLITE_READONLY || reason == SQLITE_FULL ||
           reason == SQLITE_IOERR;
}

static bool log_exists(const char *path) {
    struct ip_text name = {0};
    struct stat about;
    ip_text_printf(&name, "%s-wal", path);
    bool exists = name.failed || (stat(name.data, &about) == 0 && about.st_size > 0);
    ip_text_fini(&name);
    return exists;
}

enum ip_status res_store_open_readonly(struct res_store **store, const char *path, struct ip_error *err) {
    struct stat about;
    if (stat(path, &about) != 0 && errno == ENOENT) {
        return ip_fail(err, IP_FAILED,
                       "there is no store '%.200s': make it with 'isaprobe scan', or give --store FILE",
                       path);
    }
    struct res_store *opened = NULL;
    enum ip_status status = regular_check(path, err);
    status = status == IP_OK ? store_new(&opened, path, err) : status;
    if (status != IP_OK) {
        return status;
    }
    /* With write permission the last to leave also tidies the write-ahead log up; SQLite does without it
     * where it must. */
    status = connect_file(opened, SQLITE_OPEN_READWRITE, err);
    if (status == IP_OK) {
        status = res_sql_exec(opened, "PRAGMA query_only = 1", err);
    }
    bool empty = false;
    if (status == IP_OK) {
        status = schema_check(opened, &empty, err);
        if (status != IP_OK && memory_refused(opened->db) && !log_exists(path)) {
            status = connect_immutable(opened, err);
            status = status == IP_OK ? schema_check(opened, &empty, err) : status;
        }
    }
    if (status == IP_OK && !empty) {
        status = current_check(opened, err);
    } else if (status == IP_OK) {
        status = ip_fail(err, IP_FAILED, "the store '%.200s' is empty: fill it with 'isaprobe scan'", path);
    }
    if (status != IP_OK) {
        res_store_close(opened);
        return status;
    }
    *store = opened;
    return IP_OK;
}

enum ip_status res_machine_get(struct res_store *store, struct ip_text *identity, struct ip_error *err) {
    int64_t ignored = 0;
    return single(store, "SELECT identity FROM machine", &ignored, identity, err);
}
