// SHA384_Init looks nothing up. EVP_DigestInit_ex with EVP_sha384() fetches the algorithm each time, and a
// handshake makes some seventy hashes.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "keys.h"

#include <openssl/evp.h>
#include <string.h>

enum { BLOCK = 128 };  // of SHA-384, in bytes

static const uint8_t zeros[HASH];

void transcript_begin(transcript *transcript) { SHA384_Init(transcript); }

void transcript_add(transcript *transcript, slice message) {
    SHA384_Update(transcript, message.bytes, message.count);
}

static void transcript_hash(const transcript *messages, uint8_t hash[HASH]) {
    transcript copy = *messages;
    SHA384_Final(hash, &copy);
}

static void hmac_half(const uint8_t key[HASH], uint8_t pad, slice message, uint8_t hash[HASH]) {
    SHA512_CTX context;
    uint8_t block[BLOCK];
    memset(block, pad, sizeof block);
    for (int place = 0; place < HASH; place++) block[place] ^= key[place];
    SHA384_Init(&context);
    SHA384_Update(&context, block, sizeof block);
    SHA384_Update(&context, message.bytes, message.count);
    SHA384_Final(hash, &context);
}

// Source: RFC 2104.
static void hmac(const uint8_t key[HASH], slice message, uint8_t tag[HASH]) {
    uint8_t inner[HASH];
    hmac_half(key, 0x36, message, inner);
    hmac_half(key, 0x5c, (slice){inner, HASH}, tag);
}

// HKDF-Expand-Label, of at most one hash.
static void expand(const uint8_t secret[HASH], const char *label, slice context, uint8_t *to, size_t count) {
    uint8_t info[128], block[HASH];
    size_t length = strlen(label), place = 0;
    info[place++] = 0;
    info[place++] = (uint8_t)count;
    info[place++] = (uint8_t)(6 + length);
    memcpy(info + place, "tls13 ", 6);
    memcpy(info + place + 6, label, length);
    place += 6 + length;
    info[place++] = (uint8_t)context.count;
    if (context.count) memcpy(info + place, context.bytes, context.count);
    place += context.count;
    info[place++] = 1;  // the first block of HKDF-Expand
    hmac(secret, (slice){info, place}, block);
    memcpy(to, block, count);
}

void derive_secret(
    const uint8_t secret[HASH], const char *label, const transcript *messages, uint8_t derived[HASH]) {
    uint8_t hash[HASH];
    transcript_hash(messages, hash);
    expand(secret, label, (slice){hash, HASH}, derived, HASH);
}

void early_secret(uint8_t secret[HASH]) { hmac(zeros, (slice){zeros, HASH}, secret); }

void next_secret(const uint8_t secret[HASH], slice input, uint8_t next[HASH]) {
    transcript none;
    uint8_t salt[HASH];
    transcript_begin(&none);
    derive_secret(secret, "derived", &none, salt);
    hmac(salt, input.count ? input : (slice){zeros, HASH}, next);
}

void verify_data(const uint8_t traffic[HASH], const transcript *messages, uint8_t data[HASH]) {
    uint8_t key[HASH], hash[HASH];
    expand(traffic, "finished", (slice){NULL, 0}, key, HASH);
    transcript_hash(messages, hash);
    hmac(key, (slice){hash, HASH}, data);
}

traffic_keys keys_of(const uint8_t traffic[HASH]) {
    traffic_keys keys = {.sequence = 0};
    expand(traffic, "key", (slice){NULL, 0}, keys.key, CIPHER_KEY);
    expand(traffic, "iv", (slice){NULL, 0}, keys.nonce, CIPHER_NONCE);
    return keys;
}

// The cipher, ready for the next record and with its header taken in.
static EVP_CIPHER_CTX *begin_record(traffic_keys *keys, int encrypts, const uint8_t *header) {
    static EVP_CIPHER_CTX *cipher;
    uint8_t nonce[CIPHER_NONCE];
    int done;
    if (!cipher) {
        cipher = EVP_CIPHER_CTX_new();
        EVP_CipherInit_ex(cipher, EVP_aes_256_gcm(), NULL, NULL, NULL, encrypts);
    }
    memcpy(nonce, keys->nonce, CIPHER_NONCE);
    for (int place = 0; place < 8; place++)
        nonce[CIPHER_NONCE - 1 - place] ^= (uint8_t)(keys->sequence >> 8 * place);
    keys->sequence++;
    EVP_CipherInit_ex(cipher, NULL, NULL, keys->key, nonce, encrypts);
    EVP_CipherUpdate(cipher, NULL, &done, header, HEADER);
    return cipher;
}

void record_encrypt(traffic_keys *keys, uint8_t *header, size_t count) {
    EVP_CIPHER_CTX *cipher = begin_record(keys, 1, header);
    uint8_t *bytes = header + HEADER;
    int done = 0;
    EVP_CipherUpdate(cipher, bytes, &done, bytes, (int)count);
    EVP_CipherFinal_ex(cipher, bytes + done, &done);
    EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, TAG, bytes + count);
}

int record_decrypt(traffic_keys *keys, uint8_t *header, size_t count) {
    EVP_CIPHER_CTX *cipher = begin_record(keys, 0, header);
    uint8_t *bytes = header + HEADER;
    int done = 0;
    EVP_CipherUpdate(cipher, bytes, &done, bytes, (int)count);
    EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, TAG, bytes + count);
    return EVP_CipherFinal_ex(cipher, bytes + done, &done) == 1;
}
