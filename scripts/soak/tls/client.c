#include "client.h"

#include <openssl/evp.h>
#include <openssl/rand.h>
#include <string.h>

enum { POINT = 32, RANDOM = 32, MOST_RECORD = (1 << 14) + 256 };  // in bytes (5.2)
enum { CHANGE_CIPHER_SPEC = 20, ALERT = 21, HANDSHAKE = 22, APPLICATION_DATA = 23 };  // records (5.1)
enum { CLIENT_HELLO = 1, SERVER_HELLO = 2, FINISHED = 20 };                           // messages (4)
enum { KEY_SHARE = 51 };                                                              // extensions (4.2)

static void fail(client *client, const char *fault) {
    client->state = FAILED;
    client->fault = fault;
}

static size_t number(const uint8_t *bytes, int count) {
    size_t value = 0;
    for (int place = 0; place < count; place++) value = value << 8 | bytes[place];
    return value;
}

// Puts the header of a record into the output; returns it.
static uint8_t *put_header(client *client, uint8_t type, size_t count) {
    uint8_t *header = client->output + client->output_count;
    memcpy(header, (const uint8_t[]){type, 3, 3, (uint8_t)(count >> 8), (uint8_t)count}, HEADER);
    client->output_count += HEADER + count;
    return header;
}

// Puts an encrypted record into the output, whose type follows its content (5.2).
static void put_secured(client *client, uint8_t type, slice content) {
    size_t count = content.count + 1;
    uint8_t *header = put_header(client, APPLICATION_DATA, count + TAG);
    memcpy(header + HEADER, content.bytes, content.count);
    header[HEADER + content.count] = type;
    record_encrypt(&client->sending, header, count);
}

// The key of all handshakes.
static EVP_PKEY *own_key(void) {
    static EVP_PKEY *key;
    return key ? key : (key = EVP_PKEY_Q_keygen(NULL, NULL, "X25519"));
}

// 4.1.2
void client_begin(client *client) {
    static const uint8_t head[] = {CLIENT_HELLO, 0, 0, 127, 3, 3};
    static const uint8_t rest[] = {
        0,                            // no session
        0, 2, 0x13, 0x02,             // TLS_AES_256_GCM_SHA384
        1, 0,                         // no compression
        0, 84,                        // extensions:
        0, 10, 0, 4, 0, 2, 0, 29,     // groups: X25519
        0, 13, 0, 4, 0, 2, 4, 3,      // signatures: ECDSA with P-256 and SHA-256
        0, 16, 0, 9, 0, 7, 6, 'f', 'e', 'e', 'd', '/', '1',
        0, 43, 0, 3, 2, 3, 4,         // versions: TLS 1.3
        0, 45, 0, 2, 1, 1,            // a ticket may be sent, for use with another key share
        0, KEY_SHARE, 0, 38, 0, 36, 0, 29, 0, POINT,
    };
    size_t count = sizeof head + RANDOM + sizeof rest + POINT, point_count = POINT;
    client->state = AWAITS_HELLO;
    client->input_count = client->output_count = 0;
    uint8_t *hello = put_header(client, HANDSHAKE, count) + HEADER, *next = hello;
    memcpy(next, head, sizeof head);
    RAND_bytes(next += sizeof head, RANDOM);
    memcpy(next += RANDOM, rest, sizeof rest);
    EVP_PKEY_get_raw_public_key(own_key(), next += sizeof rest, &point_count);
    transcript_begin(&client->transcript);
    transcript_add(&client->transcript, (slice){hello, count});
}

// The point of a ServerHello (4.1.3, 4.2.8), or NULL.
static const uint8_t *server_point(slice hello) {
    size_t place = 4 + 2 + RANDOM;  // behind it a session, a cipher suite, a compression and extensions
    if (hello.bytes[0] != SERVER_HELLO || hello.count <= place) return NULL;
    place += 1 + hello.bytes[place] + 2 + 1 + 2;
    while (place + 4 <= hello.count) {
        size_t type = number(hello.bytes + place, 2), count = number(hello.bytes + place + 2, 2);
        place += 4;
        if (count > hello.count - place) return NULL;
        if (type == KEY_SHARE && count == 4 + POINT) return hello.bytes + place + 4;
        place += count;
    }
    return NULL;
}

// X25519; false where the point is none.
static int share(const uint8_t point[POINT], uint8_t shared[POINT]) {
    size_t count = POINT;
    EVP_PKEY *peer = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, NULL, point, POINT);
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new(own_key(), NULL);
    int is_shared = EVP_PKEY_derive_init(context) == 1 && EVP_PKEY_derive_set_peer_ex(context, peer, 0) == 1
        && EVP_PKEY_derive(context, shared, &count) == 1;
    EVP_PKEY_CTX_free(context);
    EVP_PKEY_free(peer);
    return is_shared;
}

static void take_hello(client *client, slice message) {
    uint8_t shared[POINT], first[HASH];
    const uint8_t *point = server_point(message);
    if (!point || !share(point, shared)) return fail(client, "the ServerHello has no key share");
    transcript_add(&client->transcript, message);
    first_secret(first);
    next_secret(first, (slice){shared, POINT}, client->handshake_secret);
    traffic_secret(client->handshake_secret, "c hs traffic", &client->transcript, client->own_secret);
    traffic_secret(client->handshake_secret, "s hs traffic", &client->transcript, client->server_secret);
    client->sending = direction_of(client->own_secret);
    client->receiving = direction_of(client->server_secret);
    client->state = AWAITS_FINISHED;
}

// 4.4.4; the client's Finished and the call leave together.
static void take_finished(client *client, slice message, slice call) {
    uint8_t expected[HASH], master_secret[HASH], own[4 + HASH] = {FINISHED, 0, 0, HASH};
    verify_data(client->server_secret, &client->transcript, expected);
    if (message.count != sizeof own || memcmp(message.bytes + 4, expected, HASH) != 0)
        return fail(client, "the server's Finished is wrong");
    transcript_add(&client->transcript, message);
    verify_data(client->own_secret, &client->transcript, own + 4);
    put_secured(client, HANDSHAKE, (slice){own, sizeof own});

    next_secret(client->handshake_secret, (slice){NULL, 0}, master_secret);
    traffic_secret(master_secret, "c ap traffic", &client->transcript, client->own_secret);
    traffic_secret(master_secret, "s ap traffic", &client->transcript, client->server_secret);
    client->sending = direction_of(client->own_secret);
    client->receiving = direction_of(client->server_secret);
    put_secured(client, APPLICATION_DATA, call);
    client->state = AWAITS_ANSWER;
}

// EncryptedExtensions, Certificate and CertificateVerify are not looked at; Finished ends the handshake.
static void take_messages(client *client, slice messages, slice call) {
    while (messages.count && client->state == AWAITS_FINISHED) {
        size_t count = messages.count < 4 ? messages.count + 1 : 4 + number(messages.bytes + 1, 3);
        if (count > messages.count) return fail(client, "a message of the handshake is cut");
        slice message = {messages.bytes, count};
        if (message.bytes[0] == FINISHED) take_finished(client, message, call);
        else transcript_add(&client->transcript, message);
        messages = (slice){messages.bytes + count, messages.count - count};
    }
}

static void take_record(client *client, uint8_t *record, size_t count, slice call) {
    uint8_t *content = record + HEADER, type = record[0];
    if (type == CHANGE_CIPHER_SPEC) return;  // says nothing (D.4)
    if (type == HANDSHAKE && client->state == AWAITS_HELLO && count)
        return take_hello(client, (slice){content, count});
    if (type != APPLICATION_DATA || client->state == AWAITS_HELLO || count <= TAG)
        return fail(client, type == ALERT ? "the server sent an alert" : "the server sent an unexpected record");
    count -= TAG;
    if (!record_decrypt(&client->receiving, record, count)) return fail(client, "a record has a wrong tag");
    while (count > 1 && content[count - 1] == 0) count--;  // padding
    type = content[--count];
    if (type == HANDSHAKE && client->state == AWAITS_FINISHED)
        take_messages(client, (slice){content, count}, call);
    else if (type == APPLICATION_DATA && client->state == AWAITS_ANSWER)
        client->state = ANSWERED;
    else if (type != HANDSHAKE)  // else a ticket
        fail(client, type == ALERT ? "the server sent an alert" : "the server sent an unexpected record");
}

void client_continue(client *client, slice call) {
    size_t place = 0;
    client->output_count = 0;
    while (client->state < ANSWERED && client->input_count - place >= HEADER) {
        size_t count = number(client->input + place + 3, 2);
        if (count > MOST_RECORD) return fail(client, "a record is too long");
        if (HEADER + count > client->input_count - place) break;
        take_record(client, client->input + place, count, call);
        place += HEADER + count;
    }
    client->input_count -= place;
    memmove(client->input, client->input + place, client->input_count);
}
