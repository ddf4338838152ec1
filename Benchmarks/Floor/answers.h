// What is read of answers: how many there are, and of some whether they say what they must.
#ifndef ANSWERS_H
#define ANSWERS_H

#include <stddef.h>
#include <stdint.h>

#include "requests.h"

// How far the answers on a connection have been read: a read may cut them anywhere.
typedef struct {
    uint64_t skip_byte_count;  // of the current body, still to come
    uint64_t pending_values;   // RESP: values of the current answer, still to come
    uint64_t answered;         // answers so far
    uint64_t checked;          // of them, those that were decoded
    uint64_t refused;          // of those, errors and answers to another request than is due
    page_token first, next;    // of the pages behind the first decoded one, and behind the last
    uint64_t last_post_id;     // in the last decoded answer that is a post
    uint32_t header_length;    // bytes in `header`
    char header[64];           // the part of a length prefix, or of a line of RESP
    char complaint[128];       // the first refusal, for people
} answer_reader;

// Reads `count` bytes of answers and returns how many answers ended in them. Of frames that came
// whole every `check_every`th is decoded; of RESP every answer. A batch has `batch_votes` results.
uint64_t answers_read(
    protocol protocol, answer_reader *reader, const char *bytes, size_t count,
    uint64_t check_every, uint64_t batch_votes);

#endif
