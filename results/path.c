/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "results/machine.h"

enum ip_status res_default_path(struct ip_text *path, const struct res_machine *machine,
                                const char *data_home, const char *home, struct ip_error *err) {
    struct ip_text made = {0};
    /* The XDG base directory specification: a relative value is to be ignored. */
    if (data_home != NULL && data_home[0] == '/') {
        ip_text_printf(&made, "%s/isaprobe/%s.db", data_home, machine->slug);
    } else if (home != NULL && home[0] == '/') {
        ip_text_printf(&made, "%s/.local/share/isaprobe/%s.db", home, machine->slug);
    } else {
        return ip_fail(err, IP_USAGE,
                       "no place for the store: neither XDG_DATA_HOME nor HOME is a directory's full name; "
                       "give --store FILE");
    }
    if (made.failed) {
        ip_text_fini(&made);
        return ip_fail(err, IP_NO_MEMORY, "out of memory for the name of the store");
    }
    ip_text_fini(path);
    *path = made;
    return IP_OK;
}

enum ip_status res_directories_make(const char *path, struct ip_error *err) {
    struct ip_text part = {0};
    enum ip_status status = IP_OK;
    for (const char *slash = strchr(path + (path[0] == '/'), '/'); slash != NULL && status == IP_OK;
         slash = strchr(slash + 1, '/')) {
        ip_text_clear(&part);
        ip_text_append_bytes(&part, path, (size_t)(slash - path));
        if (part.failed) {
            status = ip_fail(err, IP_NO_MEMORY, "out of memory for the name of a directory");
        } else if (mkdir(ip_text_string(&part), 0700) != 0 && errno != EEXIST) {
            int reason = errno;
            status =
                ip_fail_errno(err, ip_refusal_or(reason, IP_IO), reason,
                              "cannot make the directory '%s' for the store (--store FILE puts it elsewhere)",
                              ip_text_string(&part));
        }
    }
    ip_text_fini(&part);
    return status;
}
