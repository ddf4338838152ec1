#ifndef CWRITEBACK_SHIM_H
#define CWRITEBACK_SHIM_H

#include <stdint.h>

/* Declared here, as _GNU_SOURCE would change types that the Glibc module has defined without it. */
extern int sync_file_range(int descriptor, int64_t offset, int64_t count, unsigned int flags);

/* Lets the system begin to write a range of a file to the disk; returns at once. A hint only. */
static inline void cwriteback_start(int descriptor, int64_t offset, int64_t count) {
    (void)sync_file_range(descriptor, offset, count, 2 /* SYNC_FILE_RANGE_WRITE */);
}

/* Writes a range of a file to the disk and returns when that is done; 0, or -1 where it failed.
 * The metadata that is needed to read the range may not be on the disk: that takes a sync. */
static inline int cwriteback_wait(int descriptor, int64_t offset, int64_t count) {
    return sync_file_range(descriptor, offset, count,
                           1 | 2 | 4 /* SYNC_FILE_RANGE_WAIT_BEFORE | WRITE | WAIT_AFTER */);
}

#endif
