// The floor of every comparison: a libuv server that sends back the bytes it receives. It neither
// looks at frames nor does any work; what it costs is what the kernel and libuv cost, so no
// service built on them can cost less.
//
//   cc -O2 -o echo echo.c -luv && ./echo PORT
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

enum { RECEIVE_BYTE_COUNT = 64 * 1024, BACKLOG = 4096 };

static char receive_buffer[RECEIVE_BYTE_COUNT];  // callbacks of one loop never overlap

typedef struct {
    uv_write_t request;
    char bytes[];
} pending_write;

static void on_closed(uv_handle_t *handle) { free(handle); }

static void on_written(uv_write_t *request, int status) {
    (void)status;
    free(request);
}

static void on_allocate(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer) {
    (void)handle;
    (void)suggested;
    *buffer = uv_buf_init(receive_buffer, RECEIVE_BYTE_COUNT);
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer) {
    if (count < 0) {
        uv_close((uv_handle_t *)stream, on_closed);
        return;
    }
    if (count == 0) return;
    uv_buf_t bytes = uv_buf_init(buffer->base, (unsigned)count);
    int written = uv_try_write(stream, &bytes, 1);
    if (written < 0) written = 0;
    if (written == count) return;
    size_t rest = (size_t)(count - written);
    pending_write *pending = malloc(sizeof *pending + rest);
    memcpy(pending->bytes, buffer->base + written, rest);
    bytes = uv_buf_init(pending->bytes, (unsigned)rest);
    if (uv_write(&pending->request, stream, &bytes, 1, on_written) != 0) free(pending);
}

static void on_connection(uv_stream_t *listener, int status) {
    if (status < 0) return;
    uv_tcp_t *connection = malloc(sizeof *connection);
    uv_tcp_init(listener->loop, connection);
    if (uv_accept(listener, (uv_stream_t *)connection) != 0) {
        uv_close((uv_handle_t *)connection, on_closed);
        return;
    }
    uv_tcp_nodelay(connection, 1);
    uv_read_start((uv_stream_t *)connection, on_allocate, on_read);
}

static void check(int result, const char *what) {
    if (result == 0) return;
    fprintf(stderr, "%s: %s\n", what, uv_strerror(result));
    exit(1);
}

int main(int argument_count, char **arguments) {
    signal(SIGPIPE, SIG_IGN);
    int port = argument_count > 1 ? atoi(arguments[1]) : 0;
    uv_loop_t *loop = uv_default_loop();
    uv_tcp_t listener;
    struct sockaddr_in address;
    check(uv_ip4_addr("127.0.0.1", port, &address), "address");
    check(uv_tcp_init(loop, &listener), "socket");
    check(uv_tcp_bind(&listener, (const struct sockaddr *)&address, 0), "bind");
    check(uv_listen((uv_stream_t *)&listener, BACKLOG, on_connection), "listen");
    int length = sizeof address;
    check(uv_tcp_getsockname(&listener, (struct sockaddr *)&address, &length), "name");
    printf("listening on 127.0.0.1:%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return uv_run(loop, UV_RUN_DEFAULT);
}
