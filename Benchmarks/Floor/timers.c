#include "timers.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

static struct timespec time_of(double seconds) {
    time_t whole = (time_t)seconds;
    return (struct timespec){whole, (long)((seconds - (double)whole) * 1e9)};
}

bool timer_set(int poller, int *timer, double first, double interval) {
    struct itimerspec times = {.it_value = time_of(first), .it_interval = time_of(interval)};
    times.it_value.tv_nsec++;  // all 0 would stop it
    if (*timer < 0) {
        *timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = timer};
        if (epoll_ctl(poller, EPOLL_CTL_ADD, *timer, &event) != 0) return false;
    }
    return timerfd_settime(*timer, 0, &times, NULL) == 0;
}

uint64_t timer_expirations(int timer) {
    uint64_t count = 0;
    return read(timer, &count, sizeof count) == sizeof count ? count : 0;
}
