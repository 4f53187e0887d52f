/* SPDX-License-Identifier: Apache-2.0 */
/* Hex blocks as `measure --hex` and the lines of --hex-list give them: any text is bytes or an error with a
 * column, and what was read reads the same again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/block.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct ip_text text = {0}, code = {0}, again = {0}, hex = {0};
    struct ip_error err = {0};
    ip_text_append_bytes(&text, data, size);
    enum ip_status status = cli_hex_parse(&code, ip_text_string(&text), &err);
    if (status == IP_OK) {
        for (size_t i = 0; i < code.length; i++) {
            ip_text_printf(&hex, "%02x", (unsigned char)code.data[i]);
        }
        if (cli_hex_parse(&again, ip_text_string(&hex), &err) != IP_OK || again.length != code.length ||
            memcmp(again.data, code.data, code.length) != 0) {
            abort();
        }
    } else if (status != IP_SYNTAX || err.text[0] == '\0' || code.data != NULL) {
        abort();
    }
    ip_text_fini(&text);
    ip_text_fini(&code);
    ip_text_fini(&again);
    ip_text_fini(&hex);
    return 0;
}
