/* SPDX-License-Identifier: Apache-2.0 */
/* loop_costs.c - a small static analyser on libisaprobe: what the instructions of a block cost, and the
 * cycles that the execution ports need for all of them together.
 *
 *     cc -o loop_costs loop_costs.c $(pkg-config --cflags --libs isaprobe)
 *     ./loop_costs STORE 480fafc34801c8
 *
 * STORE is what 'isaprobe scan --parts latency,throughput,slots,ports' made, or any export of it. */
#include <isaprobe.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { INSTRUCTIONS_MAX = 64 };

/* Reads "480fafc3" into bytes; returns how many, 0 when it is no such text. */
static size_t hex_read(const char *text, uint8_t *bytes, size_t size) {
    size_t count = 0;
    for (; text[0] != '\0' && text[1] != '\0' && count < size; text += 2, count++) {
        unsigned value;
        if (sscanf(text, "%2x", &value) != 1) {
            return 0;
        }
        bytes[count] = (uint8_t)value;
    }
    return text[0] == '\0' ? count : 0;
}

static void number_print(double number) {
    if (isnan(number)) {
        printf("  %8s", "-");
    } else {
        printf("  %8.2f", number);
    }
}

/* What the model says of the whole block; a table that is no store has no model. */
static void prediction_print(const char *path, const uint8_t *code, size_t bytes) {
    struct isaprobe_model *model = NULL;
    struct isaprobe_prediction prediction;
    struct isaprobe_error error;
    if (isaprobe_model_open(&model, path, &error) != ISAPROBE_OK ||
        isaprobe_model_predict(model, code, bytes, true, &prediction, &error) != ISAPROBE_OK) {
        printf("no prediction: %s\n", error.text);
    } else {
        printf("as a loop: %.2f cycles, bound by: %s", prediction.cycles, prediction.bound);
        printf(prediction.missing > 0 ? ", without %zu instructions such as %s\n" : "\n", prediction.missing,
               prediction.missing_form);
    }
    isaprobe_model_close(model);
}

static int block_print(const struct isaprobe_table *table, const uint8_t *code, size_t bytes) {
    const char *usages[INSTRUCTIONS_MAX];
    size_t count = 0;
    double slots = 0;
    printf("%-28s  %8s  %8s  %8s  %s\n", "form", "latency", "cycles", "slots", "ports");
    for (size_t at = 0, length; at < bytes && count < INSTRUCTIONS_MAX; at += length) {
        char syntax[ISAPROBE_SYNTAX_MAX];
        struct isaprobe_error error;
        struct isaprobe_form form;
        if (isaprobe_code_form(code + at, bytes - at, syntax, &length, &error) != ISAPROBE_OK) {
            fprintf(stderr, "loop_costs: byte %zu: %s\n", at, error.text);
            return 1;
        }
        if (!isaprobe_table_find(table, syntax, &form)) {
            fprintf(stderr, "loop_costs: %s is not in the table: isaprobe scan \"%s\"\n", syntax, syntax);
            return 1;
        }
        printf("%-28s", form.syntax);
        number_print(form.latency_max);
        number_print(form.throughput);
        number_print(form.slots);
        printf("  %s\n", form.ports[0] != '\0' ? form.ports : "?");
        slots += form.slots;
        usages[count++] = form.ports;
    }
    printf("all %zu: %.2f slots, ports need %.2f cycles\n", count, slots,
           isaprobe_ports_cycles(usages, count));
    return 0;
}

int main(int argc, char **argv) {
    uint8_t code[256];
    size_t bytes = argc == 3 ? hex_read(argv[2], code, sizeof code) : 0;
    if (bytes == 0) {
        fprintf(stderr, "usage: loop_costs STORE HEX\n");
        return 2;
    }
    struct isaprobe_table *table = NULL;
    struct isaprobe_error error;
    if (isaprobe_table_open(&table, argv[1], &error) != ISAPROBE_OK) {
        fprintf(stderr, "loop_costs: %s\n", error.text);
        return 1;
    }
    printf("%s, %zu forms\n", isaprobe_table_machine(table), isaprobe_table_size(table));
    int code_returned = block_print(table, code, bytes);
    if (code_returned == 0) {
        prediction_print(argv[1], code, bytes);
    }
    isaprobe_table_close(table);
    return code_returned;
}
