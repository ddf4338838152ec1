#ifndef COPENSSL_SHIM_H
#define COPENSSL_SHIM_H

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Only what Swift cannot call itself: macros, functions that are given to OpenSSL, and the BIO. */

/* What the connections of one loop exchange with OpenSSL: the bytes of the read that is decrypted,
 * and the bytes that are to be sent. One connection at a time uses it. */
struct copenssl_exchange {
    const unsigned char *input;
    size_t input_count;
    unsigned char *output;
    size_t output_count;
    size_t output_capacity;
};

static inline int copenssl_bio_read(BIO *bio, char *bytes, size_t count, size_t *read) {
    struct copenssl_exchange *exchange = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (exchange->input_count == 0) {
        BIO_set_retry_read(bio);
        *read = 0;
        return 0;
    }
    if (count > exchange->input_count) count = exchange->input_count;
    memcpy(bytes, exchange->input, count);
    exchange->input += count;
    exchange->input_count -= count;
    *read = count;
    return 1;
}

static inline int copenssl_bio_write(BIO *bio, const char *bytes, size_t count, size_t *written) {
    struct copenssl_exchange *exchange = BIO_get_data(bio);
    size_t needed = exchange->output_count + count;
    BIO_clear_retry_flags(bio);
    if (needed > exchange->output_capacity) {
        size_t capacity = 2 * exchange->output_capacity;
        if (capacity < needed) capacity = needed;
        unsigned char *grown = realloc(exchange->output, capacity);
        if (grown == NULL) return 0;
        exchange->output = grown;
        exchange->output_capacity = capacity;
    }
    memcpy(exchange->output + exchange->output_count, bytes, count);
    exchange->output_count = needed;
    *written = count;
    return 1;
}

static inline long copenssl_bio_control(BIO *bio, int command, long number, void *pointer) {
    (void)bio, (void)number, (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static inline int copenssl_bio_create(BIO *bio) {
    BIO_set_init(bio, 1);
    return 1;
}

/* The kind of BIO that reads from an exchange and writes to it; NULL without memory. */
static inline BIO_METHOD *copenssl_bio_method(void) {
    BIO_METHOD *method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "exchange");
    if (method == NULL) return NULL;
    (void)BIO_meth_set_read_ex(method, copenssl_bio_read);
    (void)BIO_meth_set_write_ex(method, copenssl_bio_write);
    (void)BIO_meth_set_ctrl(method, copenssl_bio_control);
    (void)BIO_meth_set_create(method, copenssl_bio_create);
    return method;
}

/* The name of the protocol, as ALPN carries it: a length and as many bytes. */
#define COPENSSL_ALPN "\x06" "feed/1"
#define COPENSSL_ALPN_LENGTH 7

/* The name of HTTP/1.1, which a server of pages speaks; a set of the same form. */
#define COPENSSL_ALPN_HTTP "\x08" "http/1.1"

/* Takes the protocol of the context from a client that offers it, and refuses one that offers only
   others. `argument` is the protocol's name. */
static inline int copenssl_select_alpn(SSL *ssl, const unsigned char **out, unsigned char *length,
                                       const unsigned char *offered, unsigned int offered_length,
                                       void *argument) {
    unsigned char *chosen = NULL;
    const unsigned char *name = argument;
    (void)ssl;
    if (SSL_select_next_proto(&chosen, length, name, 1u + name[0], offered,
                              offered_length) != OPENSSL_NPN_NEGOTIATED) {
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    }
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

/* Nobody is at a terminal to type the password of a key. */
static inline int copenssl_no_password(char *buffer, int size, int writing, void *argument) {
    (void)buffer, (void)size, (void)writing, (void)argument;
    return -1;
}

/* What servers and clients share: TLS 1.3 alone, two groups of which either costs a fraction of a
 * millisecond, and no copy of decrypted bytes is left. A peer that may choose ffdhe8192 has the other
 * side compute for 200 ms. */
static inline int copenssl_set_common(SSL_CTX *context) {
    (void)SSL_CTX_set_options(context, SSL_OP_CLEANSE_PLAINTEXT | SSL_OP_NO_COMPRESSION);
    /* One read of the exchange takes all that it has, and not a header and then a record. */
    SSL_CTX_set_read_ahead(context, 1);
    return SSL_CTX_set1_groups_list(context, "X25519:P-256") == 1
        && SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1
        && SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) == 1;
}

static inline int copenssl_set_server(SSL_CTX *context, long ticket_seconds, int is_http) {
    static const unsigned char name[] = "feed/1";
    SSL_CTX_set_alpn_select_cb(context, copenssl_select_alpn,
                               (void *)(is_http ? COPENSSL_ALPN_HTTP : COPENSSL_ALPN));
    (void)SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    (void)SSL_CTX_set_timeout(context, ticket_seconds);
    return SSL_CTX_set_num_tickets(context, 1) == 1
        && SSL_CTX_set_session_id_context(context, name, sizeof name - 1) == 1;
}

static inline int copenssl_set_client(SSL_CTX *context) {
    (void)SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    return SSL_CTX_set_alpn_protos(context, (const unsigned char *)COPENSSL_ALPN,
                                   COPENSSL_ALPN_LENGTH) == 0;
}

/* Adds a certificate of the chain; the context takes it over where the answer is 1. */
static inline int copenssl_add_chain(SSL_CTX *context, X509 *certificate) {
    return (int)SSL_CTX_add0_chain_cert(context, certificate);
}

static inline void copenssl_limit_peer_chain(SSL_CTX *context, long byte_count) {
    (void)SSL_CTX_set_max_cert_list(context, byte_count);
}

/* Sends the name of the host that the client wants (SNI). */
static inline int copenssl_set_server_name(SSL *ssl, const char *name) {
    return (int)SSL_set_tlsext_host_name(ssl, name);
}

static inline X509 *copenssl_read_certificate(BIO *bio) {
    return PEM_read_bio_X509(bio, NULL, copenssl_no_password, NULL);
}

static inline EVP_PKEY *copenssl_read_key(BIO *bio) {
    return PEM_read_bio_PrivateKey(bio, NULL, copenssl_no_password, NULL);
}

/* The seconds since 1970 of a certificate's time; -1 where it is none. */
static inline long long copenssl_unix_seconds(const ASN1_TIME *time) {
    struct tm parts;
    if (ASN1_TIME_to_tm(time, &parts) != 1) return -1;
    return (long long)timegm(&parts);
}

/* The text of an alternative name: a DNS name or a URI, else NULL. */
static inline const ASN1_IA5STRING *copenssl_name_text(const GENERAL_NAME *name, int *is_uri) {
    int type = 0;
    void *value = GENERAL_NAME_get0_value(name, &type);
    *is_uri = type == GEN_URI;
    return type == GEN_URI || type == GEN_DNS ? (const ASN1_IA5STRING *)value : NULL;
}

static inline int copenssl_name_count(const GENERAL_NAMES *names) {
    return sk_GENERAL_NAME_num(names);
}

static inline const GENERAL_NAME *copenssl_name(const GENERAL_NAMES *names, int index) {
    return sk_GENERAL_NAME_value(names, index);
}

static inline GENERAL_NAMES *copenssl_alternative_names(const X509 *certificate) {
    return (GENERAL_NAMES *)X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
}

#endif
