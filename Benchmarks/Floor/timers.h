// Timers that epoll waits for.
#ifndef TIMERS_H
#define TIMERS_H

#include <stdbool.h>
#include <stdint.h>

// Lets `timer` ring after `first` seconds, then every `interval` (0: once). A timer of -1 is made,
// and `poller` gives its address when it rings. False where the kernel refuses, with errno.
bool timer_set(int poller, int *timer, double first, double interval);

// How often it rang since the last call.
uint64_t timer_expirations(int timer);

#endif
