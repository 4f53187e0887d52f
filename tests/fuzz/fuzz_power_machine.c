/* SPDX-License-Identifier: Apache-2.0 */
/* Machine descriptions, with a kernel description or measurements behind a line "%%". What parses must print
 * and parse again, and every choice must keep to the definition. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "power/measured.h"
#include "power/model.h"
#include "scc_model/scc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool good) {
    if (!good) {
        abort();
    }
}

static void machine_try(const struct pw_machine *machine, const struct pw_kernel *kernel, const char *csv) {
    static struct pw_point points[PW_SETTINGS_MAX];
    static struct pw_measured measured[PW_SETTINGS_MAX];
    const struct pw_limits limits = {.max_slowdown = 2};
    struct ip_error err = {0};
    if (pw_model(points, machine, kernel, &err) != IP_OK) {
        return;
    }
    for (int metric = PW_METRIC_ENERGY; metric <= PW_METRIC_TIME; metric++) {
        size_t best = 0;
        if (pw_choose(points, machine->setting_count, (enum pw_metric)metric, &limits, &best, &err) ==
            IP_OK) {
            require(best < machine->setting_count && pw_allowed(&points[best], &limits));
        }
    }
    if (pw_measured_parse(measured, "f", csv, machine, points, kernel->flops, &err) != IP_OK) {
        require(err.text[0] != '\0');
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct pw_machine machine, back;
    struct ip_error err = {0};
    char *text = malloc(size + 1);
    require(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    char *second = strstr(text, "\n%%\n");
    if (second != NULL) {
        second[1] = '\0';
        second += 4;
    } else {
        second = text + strlen(text);
    }
    struct pw_kernel kernel = {0};
    bool own = pw_kernel_parse(&kernel, "f", second, 0, &err) == IP_OK;
    if (!own) {
        require(scc_kernel(&kernel, "dot", 0, &err) == IP_OK);
    }
    if (pw_machine_parse(&machine, "f", text, &err) == IP_OK) {
        struct ip_text printed = {0};
        pw_machine_print(&printed, &machine);
        require(pw_machine_parse(&back, "printed", ip_text_string(&printed), &err) == IP_OK);
        require(back.setting_count == machine.setting_count && back.power == machine.power);
        ip_text_fini(&printed);
        machine_try(&machine, &kernel, second);
    } else {
        require(err.text[0] != '\0' && strchr(err.text, '\n') == NULL);
    }
    pw_kernel_fini(&kernel);
    free(text);
    return 0;
}
