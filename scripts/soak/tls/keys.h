// The keys of TLS 1.3 with the cipher suite TLS_AES_256_GCM_SHA384: the key schedule, and records.
//
// Source: RFC 8446, sections 5.2 and 7.1.
#ifndef KEYS_H
#define KEYS_H

#include <openssl/sha.h>
#include <stddef.h>
#include <stdint.h>

enum { HASH = 48, CIPHER_KEY = 32, CIPHER_NONCE = 12, TAG = 16, HEADER = 5 };

typedef struct {
    const uint8_t *bytes;
    size_t count;
} slice;

// What was said so far, as SHA-384 has it.
typedef SHA512_CTX transcript;

// The records of one direction.
typedef struct {
    uint8_t key[CIPHER_KEY], nonce[CIPHER_NONCE];
    uint64_t count;
} direction;

void transcript_begin(transcript *transcript);
void transcript_add(transcript *transcript, slice message);

// HKDF-Extract of the first secret, without a key shared before.
void first_secret(uint8_t secret[HASH]);

// HKDF-Extract of the secret that follows `secret`.
void next_secret(const uint8_t secret[HASH], slice input, uint8_t next[HASH]);

// Derive-Secret.
void traffic_secret(
    const uint8_t secret[HASH], const char *label, const transcript *transcript, uint8_t traffic[HASH]);

// What a Finished message proves.
void verify_data(const uint8_t traffic[HASH], const transcript *transcript, uint8_t proof[HASH]);

direction direction_of(const uint8_t traffic[HASH]);

// Encrypts `count` bytes that follow their header, in place, and puts the tag behind them.
void record_encrypt(direction *direction, uint8_t *header, size_t count);

// Decrypts `count` bytes that follow their header, and that a tag follows; false where that is wrong.
int record_decrypt(direction *direction, uint8_t *header, size_t count);

#endif
