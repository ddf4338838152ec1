#ifndef GATE_VFS_H
#define GATE_VFS_H

#include <stdbool.h>

#pragma clang assume_nonnull begin

/// Makes the system's own files known to SQLite by a name that no other has, for as long as the process
/// lives, with a call before each sync, which may take its time. False without memory.
bool gate_vfs_register(const char *name, void *gate, void (*before_sync)(void *gate));

#pragma clang assume_nonnull end

#endif
