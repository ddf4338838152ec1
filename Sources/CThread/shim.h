#ifndef CTHREAD_SHIM_H
#define CTHREAD_SHIM_H

#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>

/* Declared here, as _GNU_SOURCE would change types that the Glibc module has defined without it. */
extern int pthread_setname_np(pthread_t thread, const char *name);
extern long syscall(long number, ...);

/* Names the calling thread. The system takes at most 15 bytes, and ignores a longer name. */
static inline void cthread_set_name(const char *name) {
    (void)pthread_setname_np(pthread_self(), name);
}

/* The kernel's `struct sched_attr`, in its first version (sched_setattr(2)). */
struct cthread_scheduling {
    uint32_t size;
    uint32_t policy;
    uint64_t flags;
    int32_t niceness;
    uint32_t priority;
    uint64_t slice; /* In nanoseconds; the policy SCHED_OTHER has it since Linux 6.12. */
    uint64_t deadline;
    uint64_t period;
};

/* SCHED_OTHER, SCHED_BATCH and SCHED_IDLE of <linux/sched.h>. */
enum cthread_policy { CTHREAD_OTHER = 0, CTHREAD_BATCH = 3, CTHREAD_IDLE = 5 };

/* Sets the policy and the niceness of the calling thread, and how long it computes before another
 * thread of its processor may take its place; 0 for as long as usual. Returns 0, or -1 where the
 * system refuses. */
static inline int cthread_set_scheduling(
    enum cthread_policy policy, int32_t niceness, uint64_t slice) {
    struct cthread_scheduling scheduling = {
        .size = sizeof scheduling, .policy = policy, .niceness = niceness, .slice = slice};
    return (int)syscall(SYS_sched_setattr, 0, &scheduling, 0);
}

/* The slice of the calling thread in nanoseconds; 0 where the system does not tell it. */
static inline uint64_t cthread_slice(void) {
    struct cthread_scheduling scheduling = {.size = sizeof scheduling};
    long code = syscall(SYS_sched_getattr, 0, &scheduling, sizeof scheduling, 0);
    return code == 0 ? scheduling.slice : 0;
}

/* The policy of the calling thread. */
static inline uint32_t cthread_policy_in_use(void) {
    struct cthread_scheduling scheduling = {.size = sizeof scheduling};
    (void)syscall(SYS_sched_getattr, 0, &scheduling, sizeof scheduling, 0);
    return scheduling.policy;
}

#endif
