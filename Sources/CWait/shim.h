#ifndef CWAIT_SHIM_H
#define CWAIT_SHIM_H

#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <time.h>

/* Declared here, as _GNU_SOURCE would change types that the Glibc module has defined without it. */
extern int ppoll(
    struct pollfd *descriptors, nfds_t count, const struct timespec *longest, const sigset_t *mask);

/* Waits for one of the descriptors, for so many nanoseconds at most; poll's are milliseconds. */
static inline int cwait_poll(struct pollfd *descriptors, uint32_t count, uint64_t nanoseconds) {
    struct timespec longest = {.tv_sec = (time_t)(nanoseconds / 1000000000u),
                               .tv_nsec = (long)(nanoseconds % 1000000000u)};
    return ppoll(descriptors, count, &longest, 0);
}

/* An event's descriptor, which nobody waits for in a read or a write; -1 with errno. */
static inline int cwait_event(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

#endif
