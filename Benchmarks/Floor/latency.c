#include "latency.h"

#include <time.h>

enum { SLOT_COUNT = 1000 * 1000 + 1 };  // a microsecond each

static uint64_t slots[SLOT_COUNT];
static uint64_t count;

uint64_t latency_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void latency_record(uint64_t nanoseconds) {
    uint64_t slot = (nanoseconds + 999) / 1000;  // up: a percentile is never too good
    slots[slot < SLOT_COUNT ? slot : SLOT_COUNT - 1]++;
    count++;
}

uint64_t latency_count(void) { return count; }

double latency_milliseconds(double share) {
    uint64_t seen = 0;
    for (int slot = 0; slot < SLOT_COUNT; slot++) {
        seen += slots[slot];
        if (seen > 0 && (double)seen >= share * (double)count) return slot / 1000.0;
    }
    return 0;
}
