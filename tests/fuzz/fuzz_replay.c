/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes recordings of samples. */
#include <stddef.h>
#include <stdint.h>

#include "harness/replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct hx_replay *replay = NULL;
    struct ip_error err;
    if (hx_replay_parse(&replay, "fuzz", (const char *)data, size, &err) == IP_OK) {
        static uint8_t code[] = {0x90, 0xc3};
        struct gen_kernel kernel = {.shorter = {.bytes = code, .length = 2}};
        kernel.longer = kernel.shorter;
        double values[HX_SAMPLE_ROWS * 2];
        struct hx_samples samples;
        struct hx_job job = {.kernel = &kernel, .rounds = 2};
        hx_samples_place(&samples, values, 2);
        hx_replay_take(replay, &job, &samples);
        hx_replay_free(replay);
    }
    return 0;
}
