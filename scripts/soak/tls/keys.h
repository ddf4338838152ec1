// The keys of TLS 1.3 with the cipher suite TLS_AES_256_GCM_SHA384: the key schedule, and records.
//
// Source: RFC 8446, sections 5.2 and 7.1.
#ifndef KEYS_H
#define KEYS_H

#include <openssl/sha.h>
#include <stddef.h>
#include <stdint.h>

enum { HASH = 48, CIPHER_KEY = 32, CIPHER_NONCE = 12, TAG = 16, HEADER = 5 };  // in bytes

typedef struct {
    const uint8_t *bytes;
    size_t count;
} slice;

// The hash of the messages so far.
typedef SHA512_CTX transcript;

// The traffic keys of one direction, and the number of its next record.
typedef struct {
    uint8_t key[CIPHER_KEY], nonce[CIPHER_NONCE];
    uint64_t sequence;
} traffic_keys;

void transcript_begin(transcript *transcript);
void transcript_add(transcript *transcript, slice message);

// The Early Secret, without a pre-shared key.
void early_secret(uint8_t secret[HASH]);

// The Handshake Secret after the Early Secret, whose input is the shared secret; or the Master Secret after
// that, whose input is empty.
void next_secret(const uint8_t secret[HASH], slice input, uint8_t next[HASH]);

// A traffic secret: Derive-Secret.
void derive_secret(
    const uint8_t secret[HASH], const char *label, const transcript *messages, uint8_t derived[HASH]);

// The verify_data of a Finished message, by the handshake traffic secret of its sender.
void verify_data(const uint8_t traffic[HASH], const transcript *messages, uint8_t data[HASH]);

traffic_keys keys_of(const uint8_t traffic[HASH]);

// Encrypts `count` bytes that follow their header, in place, and puts the tag behind them.
void record_encrypt(traffic_keys *keys, uint8_t *header, size_t count);

// Decrypts `count` bytes that follow their header, and that a tag follows; false where the tag is wrong.
int record_decrypt(traffic_keys *keys, uint8_t *header, size_t count);

#endif
