#ifndef CSQLITE_SHIM_H
#define CSQLITE_SHIM_H

#include <sqlite3.h>

/* Only what Swift cannot call itself: functions with any number of arguments, and SQLITE_TRANSIENT,
 * a pointer made of a number. */

/* Closing the connection leaves the file and its log as they are. */
static inline int csqlite_keep_log_on_close(sqlite3 *connection) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

/* The statement keeps a copy of the bytes. */

static inline int csqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes,
                                    sqlite3_uint64 count) {
    /* A null pointer would bind NULL, and an empty blob is not NULL. */
    if (count == 0) return sqlite3_bind_zeroblob(statement, index, 0);
    return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_TRANSIENT);
}

/* Of an empty text there may be no address; a null pointer would bind NULL. */
static inline int csqlite_bind_text(sqlite3_stmt *statement, int index, const char *bytes,
                                    sqlite3_uint64 count) {
    return sqlite3_bind_text64(statement, index, count == 0 ? "" : bytes, count,
                               SQLITE_TRANSIENT, SQLITE_UTF8);
}

#endif
