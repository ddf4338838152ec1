#ifndef FAULT_VFS_H
#define FAULT_VFS_H

#include <stdbool.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// A disk under SQLite, as the calls that it is made of. Results are error numbers of the system, or 0.
///
/// It knows no locks and no shared memory: a database is opened by one connection, exclusively.
typedef struct fault_vfs_calls {
    /// Opens a file, or makes it if it may; without a name, one that nobody else sees. The first
    /// sync of a log is to make its name durable too.
    int (*open)(void *disk, const char *_Nullable name, bool creates, bool is_log,
                void *_Nullable *_Nonnull file);

    /// Removes a file, which has to be there; the directory is synced when asked for.
    int (*remove)(void *disk, const char *name, bool syncs_directory);

    /// Whether there is a file of that name.
    int (*exists)(void *disk, const char *name, bool *exists);

    /// Closes a file, which is not used again.
    void (*close)(void *file);

    /// Reads what there is from an offset on, and says how much it was.
    int (*read)(void *file, void *bytes, int wanted, int64_t offset, int *got);

    /// Writes all the bytes.
    int (*write)(void *file, const void *bytes, int count, int64_t offset);

    /// Cuts the file off.
    int (*truncate)(void *file, int64_t byte_count);

    /// Makes what was written durable.
    int (*sync)(void *file);

    /// How long the file is.
    int (*measure)(void *file, int64_t *byte_count);
} fault_vfs_calls;

/// A disk that SQLite knows by a name.
typedef struct fault_vfs fault_vfs;

/// Makes a disk known by a name that no other has; null without memory.
fault_vfs *_Nullable fault_vfs_register(const char *name, void *disk, fault_vfs_calls calls);

/// Forgets a disk, which no open database may be on.
void fault_vfs_unregister(fault_vfs *vfs);

#pragma clang assume_nonnull end

#endif
