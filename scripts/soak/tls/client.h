// The client's side of a TLS 1.3 handshake, for as little processor time as it can take.
//
// It offers one key exchange (X25519), one cipher suite (TLS_AES_256_GCM_SHA384) and one signature algorithm
// (ECDSA with P-256). It has one key for all its handshakes, and looks at no certificate and no signature: it
// is for a load, and not for secrets. It checks that both sides have the same keys.
//
// It sends what OpenSSL's client sends: a server name, a session id, ChangeCipherSpec and Finished, and then
// the call in a write of its own. A message of the server has to lie in one record, as it does where the
// certificates have less than 16 KiB.
//
// Source: RFC 8446; the sections in client.c are of it.
#ifndef CLIENT_H
#define CLIENT_H

#include "keys.h"

enum { INPUT = 1 << 15, OUTPUT = 1024, MOST_CALL = 512 };  // in bytes

typedef enum {
    AWAITS_HELLO,     // the ServerHello
    AWAITS_FINISHED,  // and what comes before it
    AWAITS_ANSWER,    // the handshake is done
    ANSWERED,
    FAILED,  // `fault` says why
} client_state;

typedef struct {
    client_state state;
    const char *fault;
    transcript transcript;
    uint8_t handshake_secret[HASH], own_secret[HASH], server_secret[HASH];
    traffic_keys sending, receiving;
    // Bytes to be sent: the first write, and what follows it in a second one.
    size_t output_count, first_count;
    uint8_t output[OUTPUT];
    size_t input_count;  // bytes received, behind which the next are to be put
    uint8_t input[INPUT];
    slice answer;  // once it is answered: what the first record of data has, within the input
} tls_client;

// Begins a handshake: its ClientHello is the output.
void client_begin(tls_client *client);

// Goes on with the input, and sets the output anew. The call, of up to 512 bytes, follows the handshake.
void client_continue(tls_client *client, slice call);

#endif
