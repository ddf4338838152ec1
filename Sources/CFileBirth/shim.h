#ifndef CFILEBIRTH_SHIM_H
#define CFILEBIRTH_SHIM_H

#include <stdint.h>

/* Declared here, as _GNU_SOURCE would change types that the Glibc module has defined without it. */
extern int statx(int directory, const char *path, int flags, unsigned int mask, void *buffer);

/* The layout of the kernel's struct statx, which never changes, up to the time of birth. */
struct cfilebirth_statx {
    uint32_t mask;
    uint8_t before_inode[28];
    uint64_t inode;
    uint8_t before_birth[40];
    int64_t birth_seconds;
    uint32_t birth_nanoseconds;
    uint8_t rest[164];
};

_Static_assert(sizeof(struct cfilebirth_statx) == 256, "struct statx has 256 bytes");

/* Gives a file's inode number and the time at which the inode was made, in nanoseconds since 1970,
 * 0 where the file system keeps none. Returns 0, or -1 with errno. */
static inline int cfilebirth_read(int directory, const char *name, uint64_t *inode,
                                  uint64_t *birth) {
    struct cfilebirth_statx status;
    unsigned int has_inode = 0x100, has_birth = 0x800;
    if (statx(directory, name, 0, has_inode | has_birth, &status) != 0) return -1;
    *inode = status.inode;
    *birth = (status.mask & has_birth) == 0
                 ? 0
                 : (uint64_t)status.birth_seconds * 1000000000u + status.birth_nanoseconds;
    return 0;
}

#endif
