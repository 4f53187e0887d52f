/* SPDX-License-Identifier: Apache-2.0 */
/* results/lock.h - one writer per store: the file STORE.lock, beside the file that symbolic links lead to,
 * locked by the process that scans; its mode and group are the store's. The kernel drops the lock when that
 * process ends, however it ends; what a killed one leaves behind is an empty file without meaning. */
#ifndef ISAPROBE_RESULTS_LOCK_H
#define ISAPROBE_RESULTS_LOCK_H

#include "common/error.h"

struct res_lock {
    int fd; /* -1: none */
    char *path;
};

/* IP_FAILED, with the other's process number, when the store is in use; IP_CAPABILITY when the file cannot be
 * made for want of permission, or opened: then with the lock's name and its owner. */
IP_CHECK enum ip_status res_lock_take(struct res_lock *lock, const char *store_path, struct ip_error *err);
void res_lock_drop(struct res_lock *lock); /* removes the file; fine when none is held */

#endif
