// The bytes of requests in the protocols that are compared: the service's own frames (an echo
// server sends the same back) and RESP, which Redis speaks.
#ifndef REQUESTS_H
#define REQUESTS_H

#include <stddef.h>
#include <stdint.h>

enum {
    REQUEST_BYTE_LIMIT = 1024,  // the longest request, but for imports
    REQUEST_BATCH_VOTES = 256,   // the most in one batch
    REQUEST_BATCH_BYTE_LIMIT = REQUEST_BATCH_VOTES * 15 + 64,
    REQUEST_PAGE_SIZE = 20,
    REQUEST_TOKEN_BYTE_LIMIT = 128,  // the longest token of a page
    REQUEST_IMPORT_POSTS = 256,  // the most in one import
};

typedef enum { PROTOCOL_FEED, PROTOCOL_RESP } protocol;

// What a ballot asks for, by its number on the wire.
typedef enum { BALLOT_UP = 1, BALLOT_DOWN = 2, BALLOT_CLEAR = 3 } ballot;

// A token of a page; without bytes there is none.
typedef struct {
    size_t count;
    char bytes[REQUEST_TOKEN_BYTE_LIMIT];
} page_token;

// A page: order and window by their numbers on the wire, for a user of that id, or 0.
typedef struct {
    const char *feed;
    unsigned order, window;
    uint64_t user;
    const page_token *token;  // or NULL: the first page
} page;

// Writes a vote for `post`, counted from 0, as request `id`; returns its length.
size_t request_vote(protocol protocol, char *out, uint64_t id, uint64_t post);

// Writes a ballot of `voter` on `post`, both counted from 0, as request `id`; returns its length. The
// feed protocol acts for the user of that number, whose id has the top bit set; RESP calls the
// script of that name.
size_t request_ballot(
    protocol protocol, char *out, uint64_t id, uint64_t voter, uint64_t post, ballot ballot,
    const char *script);

// Writes a batch of `count` votes, for posts that `next` names, counted from 0, as request `id`; at
// most REQUEST_BATCH_BYTE_LIMIT bytes.
size_t request_batch(char *out, uint64_t id, uint64_t count, uint64_t (*next)(void));

// Writes a request for a page; RESP has the first one of TOP alone, by the script of that name.
size_t request_page(protocol protocol, char *out, uint64_t id, page page, const char *script);

// Writes a request to create `post`, counted from 0, in a feed; adds the bytes of its texts to
// `text_bytes`.
size_t request_create(
    char *out, uint64_t id, const char *feed, uint64_t post, uint64_t *text_bytes);

// Writes a request to import `count` posts from `first` on, with times and votes of their own.
size_t request_import(char *out, uint64_t id, uint64_t first, uint64_t count, uint64_t *text_bytes);

#endif
