#include "client.h"

#include <openssl/evp.h>
#include <openssl/rand.h>
#include <string.h>

enum { KEY = 32, RANDOM = 32, SESSION = 32, MOST_RECORD = (1 << 14) + 256 };          // in bytes (5.2)
enum { CHANGE_CIPHER_SPEC = 20, ALERT = 21, HANDSHAKE = 22, APPLICATION_DATA = 23 };  // records (5.1)
enum { CLIENT_HELLO = 1, SERVER_HELLO = 2, FINISHED = 20 };                           // messages (4)
enum { KEY_SHARE = 51 };                                                              // extensions (4.2)

static void fail(tls_client *client, const char *fault) {
    client->state = FAILED;
    client->fault = fault;
}

static size_t number(const uint8_t *bytes, int count) {
    size_t value = 0;
    for (int place = 0; place < count; place++) value = value << 8 | bytes[place];
    return value;
}

// Puts the header of a record into the output, and leaves room for its content; returns the header.
static uint8_t *put_header(tls_client *client, uint8_t type, size_t count) {
    uint8_t *header = client->output + client->output_count;
    memcpy(header, (const uint8_t[]){type, 3, 3, (uint8_t)(count >> 8), (uint8_t)count}, HEADER);
    client->output_count += HEADER + count;
    return header;
}

// Puts an encrypted record into the output; its type follows its content (5.2).
static void put_encrypted(tls_client *client, uint8_t type, slice content) {
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
void client_begin(tls_client *client) {
    static const uint8_t head[] = {CLIENT_HELLO, 0, 0, 177, 3, 3};
    static const uint8_t suites[] = {
        0, 2, 0x13, 0x02,             // TLS_AES_256_GCM_SHA384
        1, 0,                         // no compression
        0, 102,                       // extensions:
        0, 0, 0, 14, 0, 12, 0, 0, 9, 'l', 'o', 'c', 'a', 'l', 'h', 'o', 's', 't',
        0, 10, 0, 4, 0, 2, 0, 29,     // groups: X25519
        0, 13, 0, 4, 0, 2, 4, 3,      // signature algorithms: ECDSA with P-256 and SHA-256
        0, 16, 0, 9, 0, 7, 6, 'f', 'e', 'e', 'd', '/', '1',
        0, 43, 0, 3, 2, 3, 4,         // versions: TLS 1.3
        0, 45, 0, 2, 1, 1,            // tickets may be sent, for use with another key share
        0, KEY_SHARE, 0, 38, 0, 36, 0, 29, 0, KEY,
    };
    size_t count = sizeof head + RANDOM + 1 + SESSION + sizeof suites + KEY, key_count = KEY;
    client->state = AWAITS_HELLO;
    client->input_count = client->output_count = 0;
    uint8_t *hello = put_header(client, HANDSHAKE, count) + HEADER, *next = hello;
    memcpy(next, head, sizeof head);
    RAND_bytes(next += sizeof head, RANDOM);
    *(next += RANDOM) = SESSION;
    RAND_bytes(next += 1, SESSION);
    memcpy(next += SESSION, suites, sizeof suites);
    EVP_PKEY_get_raw_public_key(own_key(), next += sizeof suites, &key_count);
    client->first_count = client->output_count;
    transcript_begin(&client->transcript);
    transcript_add(&client->transcript, (slice){hello, count});
}

// The public key of a ServerHello (4.1.3, 4.2.8), or NULL.
static const uint8_t *server_key(slice hello) {
    size_t place = 4 + 2 + RANDOM;  // behind it a session id, a cipher suite, a compression and extensions
    if (hello.bytes[0] != SERVER_HELLO || hello.count <= place) return NULL;
    place += 1 + hello.bytes[place] + 2 + 1 + 2;
    while (place + 4 <= hello.count) {
        size_t type = number(hello.bytes + place, 2), count = number(hello.bytes + place + 2, 2);
        place += 4;
        if (count > hello.count - place) return NULL;
        if (type == KEY_SHARE && count == 4 + KEY) return hello.bytes + place + 4;
        place += count;
    }
    return NULL;
}

// X25519; false where the other's key is none.
static int agree(const uint8_t key[KEY], uint8_t shared[KEY]) {
    size_t count = KEY;
    EVP_PKEY *peer = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, NULL, key, KEY);
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new(own_key(), NULL);
    int is_shared = EVP_PKEY_derive_init(context) == 1 && EVP_PKEY_derive_set_peer_ex(context, peer, 0) == 1
        && EVP_PKEY_derive(context, shared, &count) == 1;
    EVP_PKEY_CTX_free(context);
    EVP_PKEY_free(peer);
    return is_shared;
}

static void take_hello(tls_client *client, slice message) {
    uint8_t shared[KEY], early[HASH];
    const uint8_t *key = server_key(message);
    if (!key || !agree(key, shared)) return fail(client, "the ServerHello has no key share");
    transcript_add(&client->transcript, message);
    early_secret(early);
    next_secret(early, (slice){shared, KEY}, client->handshake_secret);
    derive_secret(client->handshake_secret, "c hs traffic", &client->transcript, client->own_secret);
    derive_secret(client->handshake_secret, "s hs traffic", &client->transcript, client->server_secret);
    client->sending = keys_of(client->own_secret);
    client->receiving = keys_of(client->server_secret);
    client->state = AWAITS_FINISHED;
}

// 4.4.4 and D.4
static void take_finished(tls_client *client, slice message, slice call) {
    uint8_t expected[HASH], master_secret[HASH], own[4 + HASH] = {FINISHED, 0, 0, HASH};
    verify_data(client->server_secret, &client->transcript, expected);
    if (message.count != sizeof own || memcmp(message.bytes + 4, expected, HASH) != 0)
        return fail(client, "the server's Finished is wrong");
    transcript_add(&client->transcript, message);
    verify_data(client->own_secret, &client->transcript, own + 4);
    put_header(client, CHANGE_CIPHER_SPEC, 1)[HEADER] = 1;
    put_encrypted(client, HANDSHAKE, (slice){own, sizeof own});
    client->first_count = client->output_count;

    next_secret(client->handshake_secret, (slice){NULL, 0}, master_secret);
    derive_secret(master_secret, "c ap traffic", &client->transcript, client->own_secret);
    derive_secret(master_secret, "s ap traffic", &client->transcript, client->server_secret);
    client->sending = keys_of(client->own_secret);
    client->receiving = keys_of(client->server_secret);
    put_encrypted(client, APPLICATION_DATA, call);
    client->state = AWAITS_ANSWER;
}

// EncryptedExtensions, Certificate and CertificateVerify are not looked at; Finished ends the handshake.
static void take_messages(tls_client *client, slice messages, slice call) {
    while (messages.count && client->state == AWAITS_FINISHED) {
        size_t count = messages.count < 4 ? messages.count + 1 : 4 + number(messages.bytes + 1, 3);
        if (count > messages.count) return fail(client, "a message of the handshake lies in two records");
        slice message = {messages.bytes, count};
        if (message.bytes[0] == FINISHED) take_finished(client, message, call);
        else transcript_add(&client->transcript, message);
        messages = (slice){messages.bytes + count, messages.count - count};
    }
}

static const char alert[] = "the server sent an alert", unexpected[] = "the server sent an unexpected record";

static void take_record(tls_client *client, uint8_t *record, size_t count, slice call) {
    uint8_t *content = record + HEADER, type = record[0];
    if (type == CHANGE_CIPHER_SPEC) return;  // it says nothing (D.4)
    if (type == HANDSHAKE && client->state == AWAITS_HELLO && count)
        return take_hello(client, (slice){content, count});
    if (type != APPLICATION_DATA || client->state == AWAITS_HELLO || count <= TAG)
        return fail(client, type == ALERT ? alert : unexpected);
    count -= TAG;
    if (!record_decrypt(&client->receiving, record, count)) return fail(client, "a record has a wrong tag");
    while (count > 1 && content[count - 1] == 0) count--;  // padding
    type = content[--count];
    if (type == HANDSHAKE && client->state == AWAITS_FINISHED) {
        take_messages(client, (slice){content, count}, call);
    } else if (type == APPLICATION_DATA && client->state == AWAITS_ANSWER) {
        client->answer = (slice){content, count};
        client->state = ANSWERED;
    } else if (type != HANDSHAKE) {  // a ticket is one
        fail(client, type == ALERT ? alert : unexpected);
    }
}

void client_continue(tls_client *client, slice call) {
    size_t place = 0;
    client->output_count = client->first_count = 0;
    while (client->state < ANSWERED && client->input_count - place >= HEADER) {
        size_t count = number(client->input + place + 3, 2);
        if (count > MOST_RECORD) return fail(client, "a record is too long");
        if (HEADER + count > client->input_count - place) break;
        take_record(client, client->input + place, count, call);
        place += HEADER + count;
    }
    if (client->state == ANSWERED) return;  // the answer stays in place
    client->input_count -= place;
    memmove(client->input, client->input + place, client->input_count);
}
