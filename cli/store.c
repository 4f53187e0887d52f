/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/store.h"

#include <stdlib.h>
#include <string.h>

enum ip_status cli_machine_read(struct res_machine *machine, struct hx_host *host, const char *timer,
                                struct ip_error *err) {
    enum ip_status status = hx_host_read(host, "", err);
    if (status != IP_OK) {
        return status;
    }
    static const char *const files[] = {"sim", "replay"};
    for (size_t i = 0; timer != NULL && i < sizeof files / sizeof files[0]; i++) {
        size_t length = strlen(files[i]);
        if (strncmp(timer, files[i], length) == 0 && timer[length] == ':' && timer[length + 1] != '\0') {
            return res_machine_of_file(machine, files[i], timer + length + 1, err);
        }
    }
    return res_machine_of_host(machine, host, err);
}

enum ip_status cli_store_path(struct ip_text *path, const char *given, const struct res_machine *machine,
                              struct ip_error *err) {
    if (given == NULL) {
        return res_default_path(path, machine, getenv("XDG_DATA_HOME"), getenv("HOME"), err);
    }
    ip_text_clear(path);
    ip_text_append(path, given);
    return path->failed ? ip_fail(err, IP_NO_MEMORY, "out of memory for the name of the store") : IP_OK;
}
