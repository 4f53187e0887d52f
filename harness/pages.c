/* SPDX-License-Identifier: Apache-2.0 */
/* harness/pages.c - the memory of a user's block: pages that appear when they are touched. Each is a view of
 * one of a few frames, in turn, so that all of them stay in the L1 cache. As few pages as most blocks touch
 * have a frame each: an AMD core finds a line by a tag of its linear address, and one that was last used by
 * another address of the same memory is as slow as a line of the L2 cache. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "harness/child.h"

enum { PAGES_MAX = 16384 }; /* 64 MiB of addresses for one block */

int hx_pages_open(struct hx_child *child) {
    const size_t bytes = PAGES_MAX * sizeof *child->pages;
    void *list = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (list == MAP_FAILED) {
        return errno;
    }
    void *frames = mmap(NULL, HX_PAGES_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                        child->common->page_fd, 0);
    if (frames == MAP_FAILED) {
        return errno;
    }
    child->pages = list;
    child->frames = frames;
    return 0;
}

/* Where the process itself writes the i-th page: at the block's own address, but for the null page, which no
 * function of C takes. */
static uint8_t *page_memory(const struct hx_child *child, uint32_t i) {
    return child->pages[i] != 0 ? hx_low_address(child->pages[i])
                                : child->frames + (size_t)(i % HX_FRAMES) * HX_PAGE_BYTES;
}

void hx_pages_clear(struct hx_child *child) {
    for (uint32_t i = 0; i < child->pages_count; i++) {
        (void)munmap(hx_low_address(child->pages[i]), HX_PAGE_BYTES);
    }
    child->pages_count = 0;
}

void hx_pages_begin(struct hx_child *child, uint32_t kernel) {
    if (child->pages_of != kernel + 1) {
        hx_pages_clear(child);
        child->pages_of = kernel + 1;
    }
}

int hx_pages_map(struct hx_child *child, uint64_t address) {
    if (child->pages_count >= PAGES_MAX) {
        return E2BIG;
    }
    uint64_t page = address & ~(uint64_t)(HX_PAGE_BYTES - 1);
    uint32_t frame = child->pages_count % HX_FRAMES;
    void *mapped = mmap(hx_low_address(page), HX_PAGE_BYTES, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_POPULATE, child->common->page_fd,
                        (off_t)frame * HX_PAGE_BYTES);
    if (mapped == MAP_FAILED) {
        return errno;
    }
    uint32_t number = child->pages_count++;
    child->pages[number] = page;
    if (number < HX_FRAMES) { /* nobody has used the frame: it holds what another block left */
        hx_pattern_fill(page_memory(child, number), HX_PAGE_BYTES,
                        child->parts.kernels[child->pages_of - 1].memory_fill);
    }
    return 0;
}

void hx_pages_fill(const struct hx_child *child, const uint8_t pattern[64]) {
    for (uint32_t i = 0; i < child->pages_count && i < HX_FRAMES; i++) {
        hx_pattern_fill(page_memory(child, i), HX_PAGE_BYTES, pattern);
    }
}

/* Writing 64 KiB takes several times as long as reading them, and most kernels leave them as they were. */
void hx_pattern_fill(uint8_t *to, size_t bytes, const uint8_t pattern[64]) {
    if (memcmp(to, pattern, 64) == 0 && memcmp(to, to + 64, bytes - 64) == 0) {
        return; /* it is there */
    }
    for (size_t at = 0; at < bytes; at += 64) {
        memcpy(to + at, pattern, 64);
    }
}
