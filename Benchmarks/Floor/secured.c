#include "secured.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>

struct secured {
    SSL *ssl;
    BIO *input;
};

static void fail(const char *what) {
    fprintf(stderr, "pump: TLS: %s: ", what);
    ERR_print_errors_fp(stderr);
    exit(1);
}

static SSL_CTX *shared_context(void) {
    static SSL_CTX *context;
    static const unsigned char protocol[] = "\x06" "feed/1";
    if (context) return context;
    context = SSL_CTX_new(TLS_client_method());
    if (!context || !SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION)) fail("context");
    SSL_CTX_set_alpn_protos(context, protocol, sizeof protocol - 1);
    return context;
}

secured *secured_open(int socket) {
    secured *secured = malloc(sizeof *secured);
    secured->ssl = SSL_new(shared_context());
    if (!secured->ssl || !SSL_set_fd(secured->ssl, socket)) fail("connection");
    if (SSL_connect(secured->ssl) != 1) fail("handshake");
    // From here on reads do not block: pump reads itself, and the bytes come through memory.
    secured->input = BIO_new(BIO_s_mem());
    BIO_set_mem_eof_return(secured->input, -1);
    SSL_set0_rbio(secured->ssl, secured->input);
    return secured;
}

int secured_send(secured *secured, const char *bytes, size_t count) {
    size_t written = 0;
    return SSL_write_ex(secured->ssl, bytes, count, &written) == 1 && written == count;
}

long secured_receive(
    secured *secured, const char *bytes, size_t count, char *plain, size_t plain_count) {
    size_t total = 0, got = 0;
    if (BIO_write(secured->input, bytes, (int)count) != (int)count) return -1;
    while (total < plain_count
           && SSL_read_ex(secured->ssl, plain + total, plain_count - total, &got) == 1)
        total += got;
    if (SSL_get_error(secured->ssl, 0) != SSL_ERROR_WANT_READ) {
        ERR_print_errors_fp(stderr);
        return -1;
    }
    return (long)total;
}
