#include "fault_vfs.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

struct fault_vfs {
    sqlite3_vfs base;
    void *disk;
    fault_vfs_calls calls;
    char name[];
};

/* What SQLite has of an open file; it begins as SQLite wants it. */
typedef struct {
    sqlite3_file base;
    const fault_vfs_calls *calls;
    void *file;
} fault_file;

/* SQLite's code for what a call came to: a failure is a full disk or of the given kind. */
static int code_of(int error, int kind) {
    if (error == 0) return SQLITE_OK;
    /* As the system leaves it. */
    errno = error;
    return error == ENOSPC ? SQLITE_FULL : kind;
}

static int file_close(sqlite3_file *base) {
    fault_file *self = (fault_file *)base;
    self->calls->close(self->file);
    return SQLITE_OK;
}

static int file_read(sqlite3_file *base, void *bytes, int wanted, sqlite3_int64 offset) {
    fault_file *self = (fault_file *)base;
    int got = 0;
    int error = self->calls->read(self->file, bytes, wanted, offset, &got);
    if (error != 0) return SQLITE_IOERR_READ;
    if (got == wanted) return SQLITE_OK;
    /* What is not there has to read as zeros. */
    memset((char *)bytes + got, 0, (size_t)(wanted - got));
    return SQLITE_IOERR_SHORT_READ;
}

static int file_write(sqlite3_file *base, const void *bytes, int count, sqlite3_int64 offset) {
    fault_file *self = (fault_file *)base;
    return code_of(self->calls->write(self->file, bytes, count, offset), SQLITE_IOERR_WRITE);
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 byte_count) {
    fault_file *self = (fault_file *)base;
    return code_of(self->calls->truncate(self->file, byte_count), SQLITE_IOERR_TRUNCATE);
}

static int file_sync(sqlite3_file *base, int flags) {
    (void)flags;
    fault_file *self = (fault_file *)base;
    return code_of(self->calls->sync(self->file), SQLITE_IOERR_FSYNC);
}

static int file_size(sqlite3_file *base, sqlite3_int64 *byte_count) {
    fault_file *self = (fault_file *)base;
    int64_t measured = 0;
    int error = self->calls->measure(self->file, &measured);
    *byte_count = measured;
    return code_of(error, SQLITE_IOERR_FSTAT);
}

static int file_lock(sqlite3_file *base, int level) {
    (void)base;
    (void)level;
    return SQLITE_OK;
}

static int file_check_lock(sqlite3_file *base, int *is_reserved) {
    (void)base;
    *is_reserved = 0;
    return SQLITE_OK;
}

static int file_control(sqlite3_file *base, int operation, void *argument) {
    (void)base;
    (void)operation;
    (void)argument;
    return SQLITE_NOTFOUND;
}

/* The two are as SQLite takes them for the system's own files. */
static int file_sector_size(sqlite3_file *base) {
    (void)base;
    return 4096;
}

static int file_characteristics(sqlite3_file *base) {
    (void)base;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_lock,
    .xCheckReservedLock = file_check_lock,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_characteristics,
};

static int vfs_open(sqlite3_vfs *base, const char *name, sqlite3_file *opened, int flags,
                    int *flags_out) {
    fault_vfs *self = (fault_vfs *)base;
    fault_file *file = (fault_file *)opened;
    /* Without methods it is not closed. */
    file->base.pMethods = NULL;
    /* As SQLite does on a system like this one: the first sync of a log, new or not, is one of the
     * directory too, which has the database's own name. */
    int logs = SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL;
    bool creates = (flags & SQLITE_OPEN_CREATE) != 0;
    int error = self->calls.open(self->disk, name, creates, creates && (flags & logs) != 0,
                                 &file->file);
    if (error != 0) return code_of(error, SQLITE_CANTOPEN);
    file->calls = &self->calls;
    file->base.pMethods = &methods;
    if (flags_out != NULL) *flags_out = flags;
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *base, const char *name, int syncs_directory) {
    fault_vfs *self = (fault_vfs *)base;
    int error = self->calls.remove(self->disk, name, syncs_directory != 0);
    return error == ENOENT ? SQLITE_IOERR_DELETE_NOENT : code_of(error, SQLITE_IOERR_DELETE);
}

static int vfs_access(sqlite3_vfs *base, const char *name, int flags, int *result) {
    (void)flags;
    fault_vfs *self = (fault_vfs *)base;
    bool exists = false;
    int error = self->calls.exists(self->disk, name, &exists);
    *result = exists;
    return code_of(error, SQLITE_IOERR_ACCESS);
}

/* Names are those of the disk, whose directory is ".". */
static int vfs_full_pathname(sqlite3_vfs *base, const char *name, int capacity, char *full) {
    (void)base;
    if (strncmp(name, "./", 2) == 0) name += 2;
    if (strlen(name) >= (size_t)capacity) return SQLITE_CANTOPEN;
    strcpy(full, name);
    return SQLITE_OK;
}

/* Chance and time are the system's. */
static int vfs_randomness(sqlite3_vfs *base, int count, char *bytes) {
    (void)base;
    sqlite3_vfs *system = sqlite3_vfs_find(NULL);
    return system->xRandomness(system, count, bytes);
}

static int vfs_sleep(sqlite3_vfs *base, int microseconds) {
    (void)base;
    return microseconds;
}

static int vfs_current_time(sqlite3_vfs *base, double *days) {
    (void)base;
    sqlite3_vfs *system = sqlite3_vfs_find(NULL);
    return system->xCurrentTime(system, days);
}

static int vfs_last_error(sqlite3_vfs *base, int capacity, char *text) {
    (void)base;
    (void)capacity;
    (void)text;
    return errno;
}

fault_vfs *fault_vfs_register(const char *name, void *disk, fault_vfs_calls calls) {
    size_t name_size = strlen(name) + 1;
    fault_vfs *self = calloc(1, sizeof(fault_vfs) + name_size);
    if (self == NULL) return NULL;
    memcpy(self->name, name, name_size);
    self->disk = disk;
    self->calls = calls;
    self->base = (sqlite3_vfs){
        .iVersion = 1,
        .szOsFile = sizeof(fault_file),
        .mxPathname = 512,
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
        return NULL;
    }
    return self;
}

void fault_vfs_unregister(fault_vfs *self) {
    sqlite3_vfs_unregister(&self->base);
    free(self);
}
