#ifndef CLIBUV_SHIM_H
#define CLIBUV_SHIM_H

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

/* Only what Swift cannot call itself: variadic functions, GNU extensions, macros and inner members of libuv.
 * Every function answers as libuv does: a value, or a negative errno. */

/* Declared here, as _GNU_SOURCE would change types that the Glibc module has defined without it. */
extern int accept4(int listener, struct sockaddr *peer, socklen_t *length, int flags);

static inline int clibuv_result(int result) {
    return result < 0 ? -errno : result;
}

/* Makes the loop add up the time it sleeps in the kernel. */
static inline int clibuv_measure_idle_time(uv_loop_t *loop) {
    return uv_loop_configure(loop, UV_METRICS_IDLE_TIME);
}

static inline int clibuv_accept(int listener, struct sockaddr_storage *peer) {
    socklen_t length = sizeof(*peer);
    int flags = SOCK_NONBLOCK | SOCK_CLOEXEC;
    return clibuv_result(accept4(listener, (struct sockaddr *)peer, &length, flags));
}

static inline int clibuv_tcp_socket(int family) {
    int type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
    return clibuv_result(socket(family, type, IPPROTO_TCP));
}

static inline int clibuv_set_option(int descriptor, int level, int name, int value) {
    return clibuv_result(setsockopt(descriptor, level, name, &value, sizeof(value)));
}

static inline int clibuv_bind(int descriptor, const struct sockaddr_storage *address) {
    socklen_t length = address->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                                      : sizeof(struct sockaddr_in);
    return clibuv_result(bind(descriptor, (const struct sockaddr *)address, length));
}

static inline int clibuv_listen(int descriptor, int backlog) {
    return clibuv_result(listen(descriptor, backlog));
}

static inline int clibuv_local_address(int descriptor, struct sockaddr_storage *address) {
    socklen_t length = sizeof(*address);
    return clibuv_result(getsockname(descriptor, (struct sockaddr *)address, &length));
}

static inline int clibuv_shutdown_sending(int descriptor) {
    return clibuv_result(shutdown(descriptor, SHUT_WR));
}

/* Sends what the kernel takes now. uv_try_write does more work: write(2) also looks at the file of the
 * socket, for those who watch files. No connect and no write of libuv may be pending. */
static inline ssize_t clibuv_try_send(int descriptor, const void *bytes, size_t count) {
    ssize_t sent = send(descriptor, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0) return sent;
    return errno == ENOBUFS ? UV_EAGAIN : -errno;
}

/* Receives what has arrived: 0 at the end of what the peer sends, UV_EAGAIN where nothing has arrived. */
static inline ssize_t clibuv_receive(int descriptor, void *bytes, size_t count) {
    ssize_t received;
    do {
        received = recv(descriptor, bytes, count, MSG_DONTWAIT);
    } while (received < 0 && errno == EINTR);
    return received < 0 ? -errno : received;
}

/* The bytes that the kernel took and the peer's has not acknowledged. */
static inline int clibuv_unacknowledged_byte_count(int descriptor) {
    int count = 0;
    return ioctl(descriptor, SIOCOUTQ, &count) < 0 ? -errno : count;
}

static inline int clibuv_open_spare(void) {
    return clibuv_result(open("/dev/null", O_RDONLY | O_CLOEXEC));
}

static inline int clibuv_timer_create(void) {
    return clibuv_result(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
}

/* Arms for an absolute monotonic instant; forgets expirations that were not read yet. */
static inline int clibuv_timer_arm(int descriptor, uint64_t nanoseconds) {
    struct itimerspec when = {{0, 0}, {0, 0}};
    when.it_value.tv_sec = (time_t)(nanoseconds / 1000000000u);
    when.it_value.tv_nsec = (long)(nanoseconds % 1000000000u);
    return clibuv_result(timerfd_settime(descriptor, TFD_TIMER_ABSTIME, &when, NULL));
}

/* How late the kernel may wake this thread, to save power. */
static inline int clibuv_set_timer_slack(unsigned long nanoseconds) {
    return clibuv_result(prctl(PR_SET_TIMERSLACK, nanoseconds, 0, 0, 0));
}

/* Allocations of `least` bytes and more are mapped from now on, and earlier frees do not change that.
 * The end of the heap is given back where more than `kept` bytes of it are free. */
static inline void clibuv_map_large_allocations(int least, int kept) {
    (void)mallopt(M_MMAP_THRESHOLD, least);
    (void)mallopt(M_TRIM_THRESHOLD, kept);
}

static inline void clibuv_give_memory_back(void) {
    (void)malloc_trim(0);
}

/* Opens /dev/null for each of the standard streams that is closed. */
static inline void clibuv_open_standard_streams(void) {
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
        if (fcntl(stream, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0) return;
    }
}

static inline void clibuv_ignore_broken_pipes(void) {
    (void)signal(SIGPIPE, SIG_IGN);
}

/* Blocks a signal for the calling thread and those that it starts, or lets the calling thread take it. */
static inline void clibuv_mask_signal(int how, int number) {
    sigset_t signals;
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, number);
    (void)pthread_sigmask(how, &signals, NULL);
}

static inline void clibuv_block_signal(int number) {
    clibuv_mask_signal(SIG_BLOCK, number);
}

static inline void clibuv_unblock_signal(int number) {
    clibuv_mask_signal(SIG_UNBLOCK, number);
}

/* Raises the soft limit of open files as far as it goes; answers what it is now. */
static inline int64_t clibuv_raise_open_file_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return -errno;
    if (limit.rlim_cur < limit.rlim_max) {
        rlim_t before = limit.rlim_cur;
        limit.rlim_cur = limit.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = before;
    }
    return limit.rlim_cur > INT32_MAX ? INT32_MAX : (int64_t)limit.rlim_cur;
}

#endif
