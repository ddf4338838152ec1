#ifndef CTHREADNAME_SHIM_H
#define CTHREADNAME_SHIM_H

#include <pthread.h>

/* Declared here, as _GNU_SOURCE would change types that the Glibc module has defined without it. */
extern int pthread_setname_np(pthread_t thread, const char *name);

/* Names the calling thread. The system takes at most 15 bytes, and ignores a longer name. */
static inline void cthreadname_set(const char *name) {
    (void)pthread_setname_np(pthread_self(), name);
}

#endif
