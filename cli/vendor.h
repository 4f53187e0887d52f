/* SPDX-License-Identifier: Apache-2.0 */
/* cli/vendor.h - whose port names fit the CPU that is measured. */
#ifndef ISAPROBE_CLI_VENDOR_H
#define ISAPROBE_CLI_VENDOR_H

#include "cli/cli.h"

/* CPUID's vendor, "" for simulated CPUs and recorded samples. `vendor` holds 16 bytes. */
IP_CHECK enum ip_status cli_vendor(const struct cli_settings *settings, char *vendor, struct ip_error *err);

#endif
