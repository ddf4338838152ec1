#include "answers.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The value of the varint at `*at`, which moves behind it.
static uint64_t read_varint(const unsigned char **at, const unsigned char *end) {
    uint64_t value = 0;
    for (int shift = 0; *at < end && shift < 64; shift += 7) {
        unsigned char byte = *(*at)++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) break;
    }
    return value;
}

// The id in a Post, or the last one in an ImportPostsResponse, which packs them.
static void note_post_id(
    answer_reader *reader, uint64_t answer, const unsigned char *at, const unsigned char *end) {
    uint64_t tag = read_varint(&at, end);
    if (answer == 39 && tag == (1 << 3 | 2)) read_varint(&at, end);
    else if (tag != (1 << 3)) return;
    do reader->last_post_id = read_varint(&at, end);
    while (answer == 39 && at < end);
}

// Takes the token of the page after a ListPostsResponse; whether it holds as many posts as asked for.
static bool is_full_page(
    answer_reader *reader, const unsigned char *at, const unsigned char *end) {
    reader->next.count = 0;
    int posts = 0;
    while (at < end) {
        uint64_t tag = read_varint(&at, end);
        uint64_t value = read_varint(&at, end);
        posts += tag == (1 << 3 | 2);
        if ((tag & 7) != 2) continue;
        if (value > (uint64_t)(end - at)) return false;
        if (tag >> 3 == 2 && value <= REQUEST_TOKEN_BYTE_LIMIT) {
            reader->next.count = value;
            memcpy(reader->next.bytes, at, value);
            if (reader->first.count == 0) reader->first = reader->next;
        }
        at += value;
    }
    return posts == REQUEST_PAGE_SIZE;
}

// Whether a BatchCastVotesResponse holds as many results as votes were sent, none of them a status.
// An echo returns the votes, which look alike.
static bool is_full_batch(const unsigned char *at, const unsigned char *end, uint64_t votes) {
    uint64_t results = 0;
    while (at < end) {
        uint64_t tag = read_varint(&at, end);
        uint64_t count = read_varint(&at, end);
        if (tag != (1 << 3 | 2) || count == 0 || count > (uint64_t)(end - at)) return false;
        if (*at == (1 << 3 | 2)) return false;
        results++;
        at += count;
    }
    return results == votes;
}

// Decodes a whole ServerFrame (or the request that an echo returned): it must name the request
// that is due, and hold an answer instead of a status.
static void check_frame(
    answer_reader *reader, const char *body, size_t count, uint64_t batch_votes) {
    const unsigned char *at = (const unsigned char *)body, *end = at + count;
    uint64_t id = 0, answer = 0;
    while (at < end) {
        uint64_t tag = read_varint(&at, end);
        uint64_t value = read_varint(&at, end);
        if (tag == (1 << 3)) id = value;
        if ((tag & 7) != 2) continue;
        if (tag >> 3 == 3) {
            answer = 0;
            break;
        }
        answer = tag >> 3;
        if (value > (uint64_t)(end - at)) break;
        if (answer == 30 || answer == 39) note_post_id(reader, answer, at, at + value);
        if (answer == 33 && !is_full_page(reader, at, at + value)) id = 0;
        if (answer == 41 && !is_full_batch(at, at + value, batch_votes)) id = 0;
        at += value;
    }
    reader->checked++;
    if (id == reader->answered + 1 && answer != 0) return;
    if (reader->refused++ == 0) {
        int shown = snprintf(
            reader->complaint, sizeof reader->complaint,
            "to request %" PRIu64 ", where %" PRIu64 " is due: ", id,
            reader->answered + 1);
        for (size_t i = 0; i < count && shown < (int)sizeof reader->complaint - 1; i++)
            reader->complaint[shown++] = body[i] >= ' ' && body[i] < 127 ? body[i] : '.';
    }
}

// Passes over the current body, or text, as far as it is there.
static const char *skip(answer_reader *reader, const char *bytes, const char *end) {
    uint64_t step = (uint64_t)(end - bytes);
    if (step > reader->skip_byte_count) step = reader->skip_byte_count;
    reader->skip_byte_count -= step;
    return bytes + step;
}

static uint64_t read_frames(
    answer_reader *reader, const char *bytes, size_t count, uint64_t check_every,
    uint64_t batch_votes) {
    uint64_t before = reader->answered;
    const char *end = bytes + count;
    while (bytes < end) {
        if (reader->skip_byte_count > 0) {
            bytes = skip(reader, bytes, end);
            if (reader->skip_byte_count == 0) reader->answered++;
            continue;
        }
        reader->header[reader->header_length++] = *bytes++;
        if (reader->header_length < 4) continue;
        const unsigned char *h = (const unsigned char *)reader->header;
        uint32_t length = (uint32_t)h[0] << 24 | (uint32_t)h[1] << 16 | (uint32_t)h[2] << 8 | h[3];
        reader->header_length = 0;
        reader->skip_byte_count = length;
        if ((size_t)(end - bytes) >= length && reader->answered % check_every == 0)
            check_frame(reader, bytes, length, batch_votes);
    }
    return reader->answered - before;
}

// Takes a line of RESP: a value of its own, or the length of a text or of a list.
static void take_line(answer_reader *reader) {
    const char *line = reader->header;
    if (reader->pending_values == 0) reader->pending_values = 1;
    reader->pending_values--;
    if (line[0] == '$' && line[1] != '-') {
        reader->skip_byte_count = strtoull(line + 1, NULL, 10) + 2;  // and its line end
        reader->pending_values++;
    } else if (line[0] == '*' && line[1] != '-') {
        reader->pending_values += strtoull(line + 1, NULL, 10);
    } else if (line[0] == '-' && reader->refused++ == 0) {
        snprintf(reader->complaint, sizeof reader->complaint, "%s", line);
    }
}

static uint64_t read_resp(answer_reader *reader, const char *bytes, size_t count) {
    uint64_t before = reader->answered;
    const char *end = bytes + count;
    while (bytes < end) {
        if (reader->skip_byte_count > 0) {
            bytes = skip(reader, bytes, end);
            if (reader->skip_byte_count == 0) reader->pending_values--;
        } else if (*bytes != '\n') {
            if (reader->header_length < sizeof reader->header - 1)
                reader->header[reader->header_length++] = *bytes;
            bytes++;
            continue;
        } else {
            bytes++;
            reader->header[reader->header_length] = 0;
            reader->header_length = 0;
            take_line(reader);
        }
        if (reader->skip_byte_count == 0 && reader->pending_values == 0) {
            reader->answered++;
            reader->checked++;
        }
    }
    return reader->answered - before;
}

uint64_t answers_read(
    protocol protocol, answer_reader *reader, const char *bytes, size_t count,
    uint64_t check_every, uint64_t batch_votes) {
    if (protocol == PROTOCOL_RESP) return read_resp(reader, bytes, count);
    return read_frames(reader, bytes, count, check_every, batch_votes);
}
