#ifndef CWRITEBACK_SHIM_H
#define CWRITEBACK_SHIM_H

#include <stdint.h>

/* Declared here, as _GNU_SOURCE would change types that the Glibc module has defined without it. */
extern int sync_file_range(int descriptor, int64_t offset, int64_t count, unsigned int flags);

/* Lets the system begin to write a range of a file to the disk; returns at once. A hint only. */
static inline void cwriteback_start(int descriptor, int64_t offset, int64_t count) {
    (void)sync_file_range(descriptor, offset, count, 2 /* SYNC_FILE_RANGE_WRITE */);
}

#endif
