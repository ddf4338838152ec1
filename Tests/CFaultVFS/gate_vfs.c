#include "gate_vfs.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

/* What SQLite knows by a name. */
typedef struct {
    sqlite3_vfs base;
    sqlite3_vfs *system;
    void *gate;
    void (*before_sync)(void *gate);
    char name[];
} gate_vfs;

/* An open file; it begins as SQLite wants it, and the system's own file lies behind it. */
typedef struct {
    sqlite3_file base;
    gate_vfs *vfs;
} gate_file;

static sqlite3_file *real(sqlite3_file *base) { return (sqlite3_file *)((gate_file *)base + 1); }

static int file_close(sqlite3_file *base) { return real(base)->pMethods->xClose(real(base)); }

static int file_read(sqlite3_file *base, void *bytes, int count, sqlite3_int64 offset) {
    return real(base)->pMethods->xRead(real(base), bytes, count, offset);
}

static int file_write(sqlite3_file *base, const void *bytes, int count, sqlite3_int64 offset) {
    return real(base)->pMethods->xWrite(real(base), bytes, count, offset);
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 byte_count) {
    return real(base)->pMethods->xTruncate(real(base), byte_count);
}

static int file_sync(sqlite3_file *base, int flags) {
    gate_vfs *vfs = ((gate_file *)base)->vfs;
    vfs->before_sync(vfs->gate);
    return real(base)->pMethods->xSync(real(base), flags);
}

static int file_size(sqlite3_file *base, sqlite3_int64 *byte_count) {
    return real(base)->pMethods->xFileSize(real(base), byte_count);
}

static int file_lock(sqlite3_file *base, int level) {
    return real(base)->pMethods->xLock(real(base), level);
}

static int file_unlock(sqlite3_file *base, int level) {
    return real(base)->pMethods->xUnlock(real(base), level);
}

static int file_check_lock(sqlite3_file *base, int *is_reserved) {
    return real(base)->pMethods->xCheckReservedLock(real(base), is_reserved);
}

static int file_control(sqlite3_file *base, int operation, void *argument) {
    return real(base)->pMethods->xFileControl(real(base), operation, argument);
}

static int file_sector_size(sqlite3_file *base) {
    return real(base)->pMethods->xSectorSize(real(base));
}

static int file_characteristics(sqlite3_file *base) {
    return real(base)->pMethods->xDeviceCharacteristics(real(base));
}

/* Of version 1: a database that is opened exclusively needs no shared memory. */
static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_lock,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_characteristics,
};

static int vfs_open(sqlite3_vfs *base, const char *name, sqlite3_file *opened, int flags,
                    int *flags_out) {
    gate_vfs *self = (gate_vfs *)base;
    ((gate_file *)opened)->vfs = self;
    int code = self->system->xOpen(self->system, name, real(opened), flags, flags_out);
    /* Without methods it is not closed. */
    opened->pMethods = real(opened)->pMethods == NULL ? NULL : &methods;
    return code;
}

static int vfs_delete(sqlite3_vfs *base, const char *name, int syncs_directory) {
    sqlite3_vfs *system = ((gate_vfs *)base)->system;
    return system->xDelete(system, name, syncs_directory);
}

static int vfs_access(sqlite3_vfs *base, const char *name, int flags, int *result) {
    sqlite3_vfs *system = ((gate_vfs *)base)->system;
    return system->xAccess(system, name, flags, result);
}

static int vfs_full_pathname(sqlite3_vfs *base, const char *name, int capacity, char *full) {
    sqlite3_vfs *system = ((gate_vfs *)base)->system;
    return system->xFullPathname(system, name, capacity, full);
}

static int vfs_randomness(sqlite3_vfs *base, int count, char *bytes) {
    sqlite3_vfs *system = ((gate_vfs *)base)->system;
    return system->xRandomness(system, count, bytes);
}

static int vfs_sleep(sqlite3_vfs *base, int microseconds) {
    sqlite3_vfs *system = ((gate_vfs *)base)->system;
    return system->xSleep(system, microseconds);
}

static int vfs_current_time(sqlite3_vfs *base, double *days) {
    sqlite3_vfs *system = ((gate_vfs *)base)->system;
    return system->xCurrentTime(system, days);
}

static int vfs_last_error(sqlite3_vfs *base, int capacity, char *text) {
    sqlite3_vfs *system = ((gate_vfs *)base)->system;
    return system->xGetLastError(system, capacity, text);
}

bool gate_vfs_register(const char *name, void *gate, void (*before_sync)(void *gate)) {
    size_t name_size = strlen(name) + 1;
    gate_vfs *self = calloc(1, sizeof(gate_vfs) + name_size);
    if (self == NULL) return false;
    memcpy(self->name, name, name_size);
    self->system = sqlite3_vfs_find(NULL);
    self->gate = gate;
    self->before_sync = before_sync;
    self->base = (sqlite3_vfs){
        .iVersion = 1,
        .szOsFile = (int)sizeof(gate_file) + self->system->szOsFile,
        .mxPathname = self->system->mxPathname,
        .zName = self->name,
        .xOpen = vfs_open,
        .xDelete = vfs_delete,
        .xAccess = vfs_access,
        .xFullPathname = vfs_full_pathname,
        .xRandomness = vfs_randomness,
        .xSleep = vfs_sleep,
        .xCurrentTime = vfs_current_time,
        .xGetLastError = vfs_last_error,
    };
    if (sqlite3_vfs_register(&self->base, 0) != SQLITE_OK) {
        free(self);
        return false;
    }
    return true;
}
