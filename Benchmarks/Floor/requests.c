#include "requests.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static char *varint(char *out, uint64_t value) {
    for (; value >= 0x80; value >>= 7) *out++ = (char)(value | 0x80);
    *out++ = (char)value;
    return out;
}

static char *number(char *out, unsigned field, uint64_t value) {
    return varint(varint(out, field << 3), value);
}

static char *bytes(char *out, unsigned field, const char *content, size_t count) {
    out = varint(varint(out, field << 3 | 2), count);
    memcpy(out, content, count);
    return out + count;
}

// A frame: its length, the id of the call, the user for whom it acts where that is not 0, and the
// call with its body.
static size_t frame_for(
    char *out, uint64_t id, uint64_t user, unsigned call, const char *body, size_t count) {
    char *end = number(out + 4, 1, id);
    if (user > 0) end = number(end, 5, user);
    end = bytes(end, call, body, count);
    size_t length = (size_t)(end - out) - 4;
    for (int i = 0; i < 4; i++) out[i] = (char)(length >> (24 - 8 * i));
    return length + 4;
}

static size_t frame(char *out, uint64_t id, unsigned call, const char *body, size_t count) {
    return frame_for(out, id, 0, call, body, count);
}

size_t request_vote(protocol protocol, char *out, uint64_t id, uint64_t post) {
    if (protocol == PROTOCOL_RESP) {
        return (size_t)sprintf(
            out, "*4\r\n$7\r\nZINCRBY\r\n$5\r\nposts\r\n$1\r\n1\r\n$13\r\np%012" PRIu64 "\r\n",
            post);
    }
    char body[32];
    char *end = number(number(body, 1, post + 1), 2, 1);  // the post's id, UP
    return frame(out, id, 40, body, (size_t)(end - body));
}

size_t request_ballot(
    protocol protocol, char *out, uint64_t id, uint64_t voter, uint64_t post, ballot ballot,
    const char *script_sha) {
    if (protocol == PROTOCOL_RESP) {
        static const char *scores[] = {"", "1", "-1", "0"};
        // The post's ballots and the posts; the voter, the member and its part of the score.
        return (size_t)sprintf(
            out, "*8\r\n$7\r\nEVALSHA\r\n$40\r\n%.40s\r\n$1\r\n2\r\n$13\r\nb%012" PRIu64
            "\r\n$5\r\nposts\r\n$8\r\n%08" PRIu64 "\r\n$13\r\np%012" PRIu64 "\r\n$%zu\r\n%s\r\n",
            script_sha, post, voter, post, strlen(scores[ballot]), scores[ballot]);
    }
    char body[32];
    char *end = number(number(body, 1, post + 1), 2, ballot);
    return frame_for(out, id, 1ull << 63 | voter, 40, body, (size_t)(end - body));
}

size_t request_batch(char *out, uint64_t id, uint64_t count, uint64_t (*next)(void)) {
    char body[REQUEST_BATCH_BYTE_LIMIT], *end = body;
    for (uint64_t i = 0; i < count; i++) {
        char vote[16];
        char *vote_end = number(number(vote, 1, next() + 1), 2, 1);  // the post's id, UP
        end = bytes(end, 1, vote, (size_t)(vote_end - vote));
    }
    return frame(out, id, 41, body, (size_t)(end - body));
}

size_t request_page(
    protocol protocol, char *out, uint64_t id, page page, const char *script_sha) {
    if (protocol == PROTOCOL_RESP) {
        return (size_t)sprintf(
            out, "*4\r\n$7\r\nEVALSHA\r\n$40\r\n%.40s\r\n$1\r\n1\r\n$5\r\nposts\r\n", script_sha);
    }
    char body[96 + REQUEST_TOKEN_BYTE_LIMIT];
    char *end = number(bytes(body, 1, page.feed, strlen(page.feed)), 2, page.order);
    if (page.window) end = number(end, 3, page.window);
    end = number(end, 4, REQUEST_PAGE_SIZE);
    if (page.token && page.token->count > 0) end = bytes(end, 5, page.token->bytes, page.token->count);
    return frame_for(out, id, page.user, 33, body, (size_t)(end - body));
}

// The author, title and comment count of a post: what CreatePost reads of it.
static char *content(char *out, uint64_t post, uint64_t *text_bytes) {
    char title[80], name[32], author[64];
    // The first bytes differ, as those of titles do.
    int title_length = sprintf(
        title, "%08x: what a post of %" PRIu64 " is called by who wrote it",
        (uint32_t)(post * 2654435761u), post);
    int name_length = sprintf(name, "author%" PRIu64, post % 50000);
    char *author_end = bytes(author, 2, name, (size_t)name_length);
    out = bytes(out, 3, author, (size_t)(author_end - author));
    out = bytes(out, 4, title, (size_t)title_length);
    *text_bytes += (uint64_t)(title_length + name_length);
    return number(out, 12, post % 1000);
}

size_t request_create(
    char *out, uint64_t id, const char *feed, uint64_t post, uint64_t *text_bytes) {
    char fields[256], body[512];
    char *fields_end = content(fields, post, text_bytes);
    char *end = bytes(bytes(body, 1, feed, strlen(feed)), 2, fields, (size_t)(fields_end - fields));
    return frame(out, id, 30, body, (size_t)(end - body));
}

size_t request_import(
    char *out, uint64_t id, uint64_t first, uint64_t count, uint64_t *text_bytes) {
    static char body[REQUEST_IMPORT_POSTS * 256];
    char *end = bytes(body, 1, "posts", 5);
    for (uint64_t post = first; post < first + count; post++) {
        char fields[256];
        uint32_t mixed = (uint32_t)(post * 2246822519u);
        char *fields_end = content(fields, post, text_bytes);
        fields_end = number(fields_end, 10, mixed % 5000);
        fields_end = number(fields_end, 11, mixed % 700);
        fields_end = number(fields_end, 13, 1577836800000 + (uint64_t)mixed * 20);  // from 2020 on
        end = bytes(end, 2, fields, (size_t)(fields_end - fields));
    }
    return frame(out, id, 39, body, (size_t)(end - body));
}
