/* SPDX-License-Identifier: Apache-2.0 */
/* results/schema.h - the tables of a store. docs/store.md explains every column; a change of them is a new
 * RES_SCHEMA_VERSION. */
#ifndef ISAPROBE_RESULTS_SCHEMA_H
#define ISAPROBE_RESULTS_SCHEMA_H

extern const char res_schema_sql[];
/* What makes a store of the version before into one of this. */
extern const char res_schema_upgrade_sql[];

#endif
