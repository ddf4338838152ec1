// The client's side of a TLS connection over a blocking socket.
#ifndef SECURED_H
#define SECURED_H

#include <stddef.h>

typedef struct secured secured;

// Makes the handshake; no certificate is checked, as both ends are of one comparison. Ends the
// process where the peer refuses.
secured *secured_open(int socket);

// Sends all bytes; 0 where the connection is broken.
int secured_send(secured *secured, const char *bytes, size_t count);

// Decrypts the bytes of one read; returns how many bytes of plaintext there are in `plain`, or -1.
long secured_receive(
    secured *secured, const char *bytes, size_t count, char *plain, size_t plain_count);

#endif
