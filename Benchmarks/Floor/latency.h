// How long requests took, from when they were due to when their answers were read.
#ifndef LATENCY_H
#define LATENCY_H

#include <stdint.h>

// Nanoseconds of the monotonic clock.
uint64_t latency_clock(void);

// Counts a request that took so many nanoseconds; beyond a second it counts as a second.
void latency_record(uint64_t nanoseconds);

// How many requests were counted.
uint64_t latency_count(void);

// The milliseconds that a share of the requests (0.99) did not exceed, to a microsecond; 0 where
// none was counted.
double latency_milliseconds(double share);

#endif
