/* SPDX-License-Identifier: Apache-2.0 */
#include "results/queries.h"

#define EVIDENCE_COLUMNS "statistic_id, run_id"

const char *const res_queries[RES_QUERIES] = {
    [RES_QUERY_BEGIN] = "BEGIN IMMEDIATE",
    [RES_QUERY_COMMIT] = "COMMIT",
    [RES_QUERY_SNAPSHOT] = "SAVEPOINT reading",
    [RES_QUERY_RELEASE] = "RELEASE reading",
    /* ... and the parts that have a verdict of their own and are not to be trusted: slots 4, ports 8. */
    [RES_QUERY_KNOWN] =
        "SELECT f.parts, f.status,"
        " 4 * (coalesce(s.verdict, '') IN ('unstable', 'disturbed'))"
        " + 8 * (coalesce(p.verdict, '') IN ('unstable', 'disturbed', 'inconsistent'))"
        " FROM forms f LEFT JOIN slots s ON s.form_id = f.id LEFT JOIN ports p ON p.form_id = f.id"
        " WHERE f.syntax = ?",

    [RES_QUERY_FORM_PUT] =
        "INSERT INTO forms(syntax, mnemonic, extension, isa_set, parts, status, why, run_id)"
        " VALUES(?1, ?2, ?3, ?4, ?5, '', '', ?6)"
        " ON CONFLICT(syntax) DO UPDATE SET mnemonic = ?2, extension = ?3, isa_set = ?4,"
        " parts = parts | ?5, run_id = ?6"
        " RETURNING id",
    [RES_QUERY_FORM_STATUS] = "UPDATE forms SET status = ?, why = ? WHERE id = ?",
    [RES_QUERY_OPERANDS_DROP] = "DELETE FROM operands WHERE form_id = ?",
    [RES_QUERY_OPERAND_PUT] = "INSERT INTO operands(form_id, position, name, bits, implicit, reads, writes)"
                              " VALUES(?, ?, ?, ?, ?, ?, ?)",

    [RES_QUERY_PREPARATION_PUT] =
        "INSERT OR IGNORE INTO preparations(id, code, memory_fill, vector_fill) VALUES(?, ?, ?, ?)",
    [RES_QUERY_KERNEL_PUT] =
        "INSERT OR IGNORE INTO kernels(id, preparation_id, unit, unit_instructions, copies, forms_per_unit)"
        " VALUES(?, ?, ?, ?, ?, ?)",
    [RES_QUERY_STATISTIC_PUT] =
        "INSERT INTO statistics(kernel_id, verdict, outcome, low_cycles, cycles, high_cycles, spread,"
        " ticks_per_cycle, sentinel_cycles, batches, retakes) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",

    [RES_QUERY_LATENCY_STATISTICS_DROP] =
        "DELETE FROM statistics WHERE id IN (SELECT statistic_id FROM latency WHERE form_id = ?)",
    [RES_QUERY_LATENCY_DROP] = "DELETE FROM latency WHERE form_id = ?",
    [RES_QUERY_LATENCY_PUT] =
        "INSERT INTO latency(form_id, position, src, dst, path, cycles, bound, spread, verdict, via,"
        " chained_cycles, same_register_cycles, slow_cycles, why, statistic_id, run_id)"
        " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [RES_QUERY_THROUGHPUT_STATISTICS_DROP] =
        "DELETE FROM statistics WHERE id IN (SELECT statistic_id FROM throughput WHERE form_id = ?)",
    [RES_QUERY_THROUGHPUT_PUT] =
        "INSERT OR REPLACE INTO throughput(form_id, cycles, spread, slow_cycles, verdict, registers, how,"
        " why, statistic_id, run_id) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [RES_QUERY_SLOTS_STATISTICS_DROP] =
        "DELETE FROM statistics WHERE id IN (SELECT statistic_id FROM slots WHERE form_id = ?)",
    [RES_QUERY_SLOTS_PUT] =
        "INSERT OR REPLACE INTO slots(form_id, slots, spread, verdict, why, statistic_id, run_id)"
        " VALUES(?, ?, ?, ?, ?, ?, ?)",

    [RES_QUERY_PORTS_STATISTICS_DROP] =
        "DELETE FROM statistics WHERE id IN (SELECT statistic_id FROM ports WHERE form_id = ?)",
    [RES_QUERY_PORTS_PUT] =
        "INSERT OR REPLACE INTO ports(form_id, usage, uops, slots, cycles, expected_cycles, residual,"
        " verdict, unit, unit_cycles, how, why, statistic_id, run_id)"
        " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [RES_QUERY_PORTMAP_PUT] =
        "INSERT INTO portmap(id, names, store_address, issue_width, solutions, more_solutions, notes,"
        " kernels, run_id) VALUES(1, ?, ?, ?, ?, ?, ?, ?, ?)",
    [RES_QUERY_PORT_CLASS_PUT] =
        "INSERT INTO port_classes(position, ports, width, kind, worlds, members, scalar_blocker,"
        " vector_blocker, wide_blocker, residual, contradicted, alternatives)"
        " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [RES_QUERY_PORT_MEMBER_PUT] =
        "INSERT INTO port_members(position, syntax, scaled, kind, world, cycles, slots, width, class)"
        " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",

    [RES_QUERY_PENDING_PUT] = "INSERT INTO pending(run_id, statistics) VALUES(?, ?)",

    /* The throughput first: it speaks for the form where it is known. */
    [RES_QUERY_FACTS] = "SELECT 't', t.cycles IS NOT NULL, t.verdict, s.outcome, t.why FROM throughput t"
                        " LEFT JOIN statistics s ON s.id = t.statistic_id WHERE t.form_id = ?1"
                        " UNION ALL "
                        "SELECT 's', o.slots IS NOT NULL, o.verdict, s.outcome, o.why FROM slots o"
                        " LEFT JOIN statistics s ON s.id = o.statistic_id WHERE o.form_id = ?1"
                        " UNION ALL "
                        "SELECT 'p', p.verdict IN ('ok', 'ambiguous', 'inconsistent'),"
                        " iif(p.verdict = 'inconsistent', 'ok', p.verdict), s.outcome, p.why FROM ports p"
                        " LEFT JOIN statistics s ON s.id = p.statistic_id WHERE p.form_id = ?1"
                        " UNION ALL "
                        "SELECT 'l', l.cycles IS NOT NULL, l.verdict, s.outcome, l.why FROM latency l"
                        " LEFT JOIN statistics s ON s.id = l.statistic_id WHERE l.form_id = ?1",

    [RES_QUERY_FORM_GET] =
        "SELECT id, syntax, extension, isa_set, parts, status, why FROM forms WHERE syntax = ?",
    [RES_QUERY_LATENCY_GET] =
        "SELECT cycles, spread, verdict, why, " EVIDENCE_COLUMNS ", src, dst, path, bound, via,"
        " chained_cycles, same_register_cycles, slow_cycles FROM latency WHERE form_id = ? ORDER BY position",
    [RES_QUERY_THROUGHPUT_GET] = "SELECT cycles, spread, verdict, why, " EVIDENCE_COLUMNS
                                 ", registers, how, slow_cycles FROM throughput"
                                 " WHERE form_id = ?",
    [RES_QUERY_SLOTS_GET] =
        "SELECT slots, spread, verdict, why, " EVIDENCE_COLUMNS " FROM slots WHERE form_id = ?",
    [RES_QUERY_UNITS_GET] = "SELECT unit FROM ports WHERE unit <> '' GROUP BY unit ORDER BY min(rowid)",
    [RES_QUERY_PORTS_GET] = "SELECT usage, verdict, unit, how, why, uops, slots, cycles, expected_cycles,"
                            " unit_cycles, residual, run_id, statistic_id FROM ports WHERE form_id = ?",
    [RES_QUERY_PORTMAP_GET] = "SELECT names, store_address, issue_width, solutions, more_solutions, notes,"
                              " kernels FROM portmap",
    [RES_QUERY_PORT_CLASSES_GET] =
        "SELECT ports, width, kind, worlds, members, scalar_blocker, vector_blocker, wide_blocker, residual,"
        " contradicted, alternatives FROM port_classes ORDER BY position",
    [RES_QUERY_PORT_MEMBERS_GET] = "SELECT syntax, scaled, kind, world, cycles, slots, width, class"
                                   " FROM port_members ORDER BY position",
    [RES_QUERY_EVIDENCE_GET] =
        "SELECT s.verdict, s.low_cycles, s.cycles, s.high_cycles, s.spread, s.ticks_per_cycle,"
        " s.sentinel_cycles, s.batches, s.retakes, k.id, k.copies, k.unit_instructions, k.forms_per_unit,"
        " k.unit FROM statistics s LEFT JOIN kernels k ON k.id = s.kernel_id WHERE s.id = ?",
};
