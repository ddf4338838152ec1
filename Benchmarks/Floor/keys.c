#include "keys.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (!memory) {
        fprintf(stderr, "pump: no memory for %zu keys.\n", count);
        exit(1);
    }
    return memory;
}

void keys_open_uniform(key_source *keys, uint64_t count, uint64_t seed) {
    *keys = (key_source){.state = seed, .count = count};
}

// The first of `sums` that is above `sum`.
static uint32_t rank_at(const double *sums, uint64_t count, double sum) {
    uint64_t low = 0, high = count - 1;
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        if (sums[middle] > sum) high = middle;
        else low = middle + 1;
    }
    return (uint32_t)low;
}

void keys_open_zipf(key_source *keys, uint64_t count, double exponent, uint64_t seed) {
    keys_open_uniform(keys, count, seed);
    double *sums = allocate(count, sizeof *sums);
    uint32_t *posts = allocate(count, sizeof *posts);
    double sum = 0;
    for (uint64_t rank = 0; rank < count; rank++) {
        sum += pow((double)(rank + 1), -exponent);
        sums[rank] = sum;
        uint64_t other = keys_random(keys) % (rank + 1);  // Fisher and Yates, inside out
        posts[rank] = posts[other];
        posts[other] = (uint32_t)rank;
    }
    keys->drawn = allocate(KEYS_DRAWN_COUNT, sizeof *keys->drawn);
    for (int i = 0; i < KEYS_DRAWN_COUNT; i++) {
        double at = (double)(keys_random(keys) >> 11) * 0x1p-53 * sum;
        keys->drawn[i] = posts[rank_at(sums, count, at)];
    }
    free(sums);
    free(posts);
}

void keys_close(key_source *keys) { free(keys->drawn); }
