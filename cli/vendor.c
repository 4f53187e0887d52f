/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/vendor.h"

#include <string.h>

#include "harness/host.h"

enum ip_status cli_vendor(const struct cli_settings *settings, char *vendor, struct ip_error *err) {
    vendor[0] = '\0';
    if (settings->timer != NULL &&
        (strncmp(settings->timer, "sim:", 4) == 0 || strncmp(settings->timer, "replay:", 7) == 0)) {
        return IP_OK;
    }
    struct hx_host host = {0};
    enum ip_status status = hx_host_read(&host, "", err);
    if (status == IP_OK) {
        memcpy(vendor, host.vendor, sizeof host.vendor);
    }
    hx_host_fini(&host);
    return status;
}
