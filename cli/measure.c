/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/measure.h"

int cli_measure_forms(const struct cli_command *command, struct cli_settings *settings,
                      const struct cli_column *columns, size_t chunk, cli_chunk_run *run) {
    struct cli_output output;
    int code = cli_output_open(&output, command, settings, columns);
    if (code != CLI_EXIT_OK) {
        return code;
    }
    struct cli_forms forms = {0};
    struct cli_bench bench;
    struct cli_tally tally = {0};
    struct ip_error err = {0};
    enum ip_status status = cli_forms_prepare(&forms, settings, &err);
    if (status == IP_OK) {
        status = cli_bench_open(&bench, settings, &err);
        for (size_t at = 0; status == IP_OK && at < forms.count; at += chunk) {
            size_t count = forms.count - at < chunk ? forms.count - at : chunk;
            cli_bench_progress(&bench, "forms", at, forms.count);
            status = run(&bench, settings, &forms, at, count, &output, &tally, &err);
        }
        status = cli_bench_close(&bench, status, &err);
    }
    cli_interrupted(command->name, settings, tally.measured + tally.missing, forms.count, "forms");
    code = status == IP_OK ? cli_tally_exit(&tally, settings, command->name, "forms")
                           : cli_report(command->name, &err);
    cli_forms_fini(&forms);
    return cli_output_close(&output, code);
}
