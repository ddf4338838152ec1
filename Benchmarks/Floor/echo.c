// The floor of every comparison: a libuv server that sends back the bytes it receives. It neither
// looks at frames nor does any work; what it costs is what the kernel and libuv cost, so no
// service built on them can cost less.
//
// With a file of frames that the service answered it is the floor of pages: it answers each request
// with the frame of the same call, under the request's id.
//
//   Benchmarks/Floor/build.sh DIRECTORY && DIRECTORY/echo PORT [ANSWERS]
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

enum {
    RECEIVE_BYTE_COUNT = 64 * 1024,
    BACKLOG = 4096,
    CALL_COUNT = 64,  // and above the number of each call that is answered
    REQUEST_BYTE_LIMIT = 1024,
    ANSWER_BYTE_LIMIT = 16384,
    SEND_BYTE_COUNT = 512 * 1024,
};

static char receive_buffer[RECEIVE_BYTE_COUNT];  // callbacks of one loop never overlap
static struct { size_t count; const unsigned char *bytes; } answers[CALL_COUNT];  // behind their ids
static int has_answers;

typedef struct {
    uv_write_t request;
    char bytes[];
} pending_write;

typedef struct {
    uv_tcp_t tcp;
    size_t begun_count;  // bytes of a request that is not here as a whole
    char begun[REQUEST_BYTE_LIMIT];
} connection;

static void on_closed(uv_handle_t *handle) { free(handle); }

static void on_written(uv_write_t *request, int status) {
    (void)status;
    free(request);
}

static void on_allocate(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer) {
    const connection *of = (const connection *)handle;
    (void)suggested;
    memcpy(receive_buffer, of->begun, of->begun_count);
    *buffer = uv_buf_init(
        receive_buffer + of->begun_count, (unsigned)(RECEIVE_BYTE_COUNT - of->begun_count));
}

static void send_bytes(uv_stream_t *stream, char *base, size_t count) {
    uv_buf_t bytes = uv_buf_init(base, (unsigned)count);
    int written = uv_try_write(stream, &bytes, 1);
    if (written < 0) written = 0;
    if ((size_t)written == count) return;
    size_t rest = count - (size_t)written;
    pending_write *pending = malloc(sizeof *pending + rest);
    memcpy(pending->bytes, base + written, rest);
    bytes = uv_buf_init(pending->bytes, (unsigned)rest);
    if (uv_write(&pending->request, stream, &bytes, 1, on_written) != 0) free(pending);
}

// A frame's id, of which `*at` is set behind it, and its call: the first field that has a length.
typedef struct { uint64_t id; unsigned call; const unsigned char *at; } frame;

static uint64_t read_varint(const unsigned char **at, const unsigned char *end) {
    uint64_t value = 0;
    for (int shift = 0; *at < end && shift < 64; shift += 7) {
        value |= (uint64_t)(**at & 0x7f) << shift;
        if (*(*at)++ < 0x80) break;
    }
    return value;
}

static frame read_frame(const unsigned char *at, const unsigned char *end) {
    at++;  // the tag of the id, which comes first
    frame frame = {.id = read_varint(&at, end), .at = at};
    while (at < end) {
        uint64_t tag = read_varint(&at, end);
        if ((tag & 7) == 2) {
            frame.call = (unsigned)(tag >> 3);
            break;
        }
        read_varint(&at, end);
    }
    return frame;
}

static size_t frame_length(const unsigned char *at) {
    return (size_t)at[0] << 24 | (size_t)at[1] << 16 | (size_t)at[2] << 8 | at[3];
}

// Writes the answer to a request; returns its length, 0 if there is none.
static size_t write_answer(unsigned char *out, frame request) {
    if (request.call >= CALL_COUNT || !answers[request.call].bytes) return 0;
    unsigned char *end = out + 4;
    *end++ = 1 << 3;
    for (; request.id >= 0x80; request.id >>= 7) *end++ = (unsigned char)(request.id | 0x80);
    *end++ = (unsigned char)request.id;
    memcpy(end, answers[request.call].bytes, answers[request.call].count);
    end += answers[request.call].count;
    size_t length = (size_t)(end - out) - 4;
    for (int i = 0; i < 4; i++) out[i] = (unsigned char)(length >> (24 - 8 * i));
    return length + 4;
}

// Answers the requests of a read, in one write if they fit. Returns 0 if one has no answer.
static int answer_all(connection *connection, size_t count) {
    static unsigned char send_buffer[SEND_BYTE_COUNT];
    const unsigned char *at = (const unsigned char *)receive_buffer;
    const unsigned char *end = at + connection->begun_count + count;
    size_t filled = 0, length;
    for (; end - at >= 4 && (size_t)(end - at) >= 4 + (length = frame_length(at)); at += 4 + length) {
        size_t written = write_answer(send_buffer + filled, read_frame(at + 4, at + 4 + length));
        if (written == 0) return 0;
        filled += written;
        if (filled <= SEND_BYTE_COUNT - ANSWER_BYTE_LIMIT) continue;
        send_bytes((uv_stream_t *)connection, (char *)send_buffer, filled);
        filled = 0;
    }
    if (filled > 0) send_bytes((uv_stream_t *)connection, (char *)send_buffer, filled);
    connection->begun_count = (size_t)(end - at);
    if (connection->begun_count > REQUEST_BYTE_LIMIT) return 0;
    memcpy(connection->begun, at, connection->begun_count);
    return 1;
}

static void load_answers(const char *path) {
    static unsigned char content[CALL_COUNT * ANSWER_BYTE_LIMIT];
    FILE *file = fopen(path, "rb");
    size_t count = file ? fread(content, 1, sizeof content, file) : 0;
    const unsigned char *at = content, *end = content + count;
    while (end - at > 4 && (size_t)(end - at) >= 4 + frame_length(at)) {
        const unsigned char *next = at + 4 + frame_length(at);
        frame answer = read_frame(at + 4, next);
        if (answer.call >= CALL_COUNT || next - at > ANSWER_BYTE_LIMIT - 16) break;
        answers[answer.call].bytes = answer.at;
        answers[answer.call].count = (size_t)(next - answer.at);
        at = next;
    }
    if (count == 0 || at < end) {
        fprintf(stderr, "%s: expected whole frames of answers.\n", path);
        exit(1);
    }
    has_answers = 1;
    fclose(file);
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer) {
    connection *of = (connection *)stream;
    if (count == 0) return;
    if (count > 0 && !has_answers) {
        send_bytes(stream, buffer->base, (size_t)count);
    } else if (count < 0 || !answer_all(of, (size_t)count)) {
        uv_close((uv_handle_t *)stream, on_closed);
    }
}

static void on_connection(uv_stream_t *listener, int status) {
    if (status < 0) return;
    connection *accepted = calloc(1, sizeof *accepted);
    uv_tcp_init(listener->loop, &accepted->tcp);
    if (uv_accept(listener, (uv_stream_t *)accepted) != 0) {
        uv_close((uv_handle_t *)accepted, on_closed);
        return;
    }
    uv_tcp_nodelay(&accepted->tcp, 1);
    uv_read_start((uv_stream_t *)accepted, on_allocate, on_read);
}

static void check(int result, const char *what) {
    if (result == 0) return;
    fprintf(stderr, "%s: %s\n", what, uv_strerror(result));
    exit(1);
}

int main(int argument_count, char **arguments) {
    signal(SIGPIPE, SIG_IGN);
    int port = argument_count > 1 ? atoi(arguments[1]) : 0;
    if (argument_count > 2) load_answers(arguments[2]);
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
