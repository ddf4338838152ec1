// Which post the next vote is for.
#ifndef KEYS_H
#define KEYS_H

#include <stdint.h>

typedef struct {
    uint64_t state;    // of the random numbers
    uint64_t count;    // posts to choose from
    uint32_t *drawn;   // posts drawn beforehand, or NULL: every post is as likely
    uint64_t next;     // the next of `drawn`
} key_source;

// Every one of `count` posts is as likely.
void keys_open_uniform(key_source *keys, uint64_t count, uint64_t seed);

// The post of rank r has a share of r^-exponent; ranks are scattered over the posts. The posts are
// drawn beforehand, four million of them, so that drawing costs the client nothing in the run.
void keys_open_zipf(key_source *keys, uint64_t count, double exponent, uint64_t seed);

void keys_close(key_source *keys);

// splitmix64 (Steele, Lea, Flood 2014).
static inline uint64_t keys_random(key_source *keys) {
    uint64_t z = (keys->state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

enum { KEYS_DRAWN_COUNT = 1 << 22 };

// A post, 0 to count - 1.
static inline uint64_t keys_next(key_source *keys) {
    if (keys->drawn) return keys->drawn[keys->next++ & (KEYS_DRAWN_COUNT - 1)];
    return (uint64_t)(((unsigned __int128)keys_random(keys) * keys->count) >> 64);
}

#endif
