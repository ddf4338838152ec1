// The client's side of a TLS 1.3 handshake, for as little processor time as it can take.
//
// It offers one key exchange (X25519), one cipher suite (TLS_AES_256_GCM_SHA384) and one signature (ECDSA with
// P-256), uses one key for all its handshakes, and looks at no certificate and no signature: it is for a load,
// and not for secrets. The server does all that it does for any client. That both have the same keys is checked.
//
// Source: RFC 8446; the sections in client.c are of it.
#ifndef CLIENT_H
#define CLIENT_H

#include "keys.h"

enum { INPUT = 1 << 15, OUTPUT = 1024, MOST_CALL = 512 };  // in bytes

typedef enum {
    AWAITS_HELLO,     // the ServerHello
    AWAITS_FINISHED,  // and what comes before it
    AWAITS_ANSWER,    // the handshake is done, and the call is in the output
    ANSWERED,
    FAILED,  // `fault` says why
} client_state;

typedef struct {
    client_state state;
    const char *fault;
    transcript transcript;
    uint8_t handshake_secret[HASH], own_secret[HASH], server_secret[HASH];
    direction sending, receiving;
    size_t output_count;  // bytes to be sent, all at once
    uint8_t output[OUTPUT];
    size_t input_count;  // bytes received, behind which the next are to be put
    uint8_t input[INPUT];
} client;

// Begins a handshake: its ClientHello is the output.
void client_begin(client *client);

// Goes on with the input, and sets the output anew. The call, of up to 512 bytes, follows the handshake.
void client_continue(client *client, slice call);

#endif
