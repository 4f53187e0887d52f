#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two scans, as a user runs them, against each other: how long they take, and in how many of the forms that both trust they say
# the same: the same whole number for every latency (probe_latency_whole; on the edge of rounding 1 % decides, and once more
# without that), a throughput within 5 % or 0.02 cycle, the same rounded issue slots; where ports were measured, the same usage, or none in both.
#   tests/bench/scans.sh PROGRAM [OPTION of scan ...]      such as --parts throughput,slots,ports
set -euo pipefail

program=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for store in a b; do
    begin=$(date +%s%N)
    "$program" scan --quiet --store "$work/$store.db" "$@" || [[ $? == 4 ]]
    nanoseconds=$(($(date +%s%N) - begin))
    sqlite3 "$work/$store.db" "SELECT printf('scan %s: %.1f s, %d forms, %d trusted', '$store', $nanoseconds / 1e9, count(*),
        sum(status = 'ok')) FROM forms"
done

sqlite3 "$work/a.db" <<SQL
ATTACH '$work/b.db' AS b;
CREATE TEMP TABLE both AS
    SELECT f.id AS a, g.id AS b FROM main.forms f JOIN b.forms g USING (syntax) WHERE f.status = 'ok' AND g.status = 'ok';
CREATE TEMP TABLE latencies AS
    SELECT both.a AS form,
           CAST(x.cycles + 0.55 AS INTEGER) = CAST(y.cycles + 0.55 AS INTEGER) AS rounded,
           abs(x.cycles - y.cycles) <= 0.01 * max(x.cycles, y.cycles) AS near
    FROM both JOIN main.latency x ON x.form_id = both.a JOIN b.latency y ON y.form_id = both.b AND y.position = x.position
    WHERE x.verdict = 'ok' AND y.verdict = 'ok' AND x.cycles IS NOT NULL AND y.cycles IS NOT NULL;
CREATE TEMP TABLE aspects AS
    SELECT 'latency' AS aspect, form, min(rounded OR near) AS same FROM latencies GROUP BY form
    UNION ALL
    SELECT 'latency, rounded', form, min(rounded) FROM latencies GROUP BY form
    UNION ALL
    SELECT 'throughput', both.a, abs(x.cycles - y.cycles) <= max(0.02, 0.05 * min(x.cycles, y.cycles))
    FROM both JOIN main.throughput x ON x.form_id = both.a JOIN b.throughput y ON y.form_id = both.b
    WHERE x.verdict = 'ok' AND y.verdict = 'ok' AND x.cycles IS NOT NULL AND y.cycles IS NOT NULL
    UNION ALL
    SELECT 'issue slots', both.a, CAST(x.slots + 0.5 AS INTEGER) = CAST(y.slots + 0.5 AS INTEGER)
    FROM both JOIN main.slots x ON x.form_id = both.a JOIN b.slots y ON y.form_id = both.b
    WHERE x.verdict = 'ok' AND y.verdict = 'ok' AND x.slots IS NOT NULL AND y.slots IS NOT NULL
    UNION ALL
    SELECT 'ports', both.a, coalesce(x.usage, '') = coalesce(y.usage, '')
    FROM both JOIN main.ports x ON x.form_id = both.a JOIN b.ports y ON y.form_id = both.b;
INSERT INTO aspects
    SELECT 'both', form, min(same) FROM aspects WHERE aspect IN ('latency', 'throughput') GROUP BY form
    UNION ALL
    SELECT 'both, rounded', form, min(same) FROM aspects WHERE aspect IN ('latency, rounded', 'throughput') GROUP BY form;
.mode list
SELECT printf('%-24s %5d of %5d forms alike, %.2f %%', aspect, sum(same), count(*), 100.0 * sum(same) / count(*))
    FROM aspects GROUP BY aspect ORDER BY aspect;
SELECT printf('%-24s %5d told in a, %d in b, %d told differently', 'ports', sum(x.usage IS NOT NULL), sum(y.usage IS NOT NULL),
              sum(x.usage <> y.usage))
    FROM both JOIN main.ports x ON x.form_id = both.a JOIN b.ports y ON y.form_id = both.b
    HAVING count(*) > 0;
SELECT '  differs: ' || f.syntax || ': ' || group_concat(aspect, ', ')
    FROM aspects JOIN main.forms f ON f.id = form WHERE NOT same AND aspect IN ('latency', 'throughput', 'ports')
    GROUP BY form ORDER BY f.syntax LIMIT 100;
SQL
