// Opens connections with TLS at a rate, whole handshakes or half ones.
//
//   cc -O2 -o handshakes handshakes.c client.c keys.c -lcrypto
//   handshakes whole PORT SOURCE RATE CALL < PIPE
//   handshakes half PORT SOURCE RATE < PIPE
//
// A whole one is followed by a call, whose answer it awaits. A half one sends a ClientHello, and every second
// half of one, and awaits that the service closes the connection. SOURCE is the address that connections come
// from, CALL a frame in hexadecimal digits.
//
// It goes on until the pipe is closed, then waits up to 12 s for what is open. It prints as JSON how many it
// has begun in how many seconds, how many of them have ended as they should and are open, and the longest time
// that one was begun late, and that one took. The first failure ends it, with exit code 1.
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "client.h"

enum { EVENTS = 64, WAIT_MILLISECONDS = 1, MOST_AT_ONCE = 16 };
// The service gives a handshake ten seconds, and looks after them each second.
enum { LONGEST_SECONDS = 12 };
// The answer to a ClientHello: the hello, the certificate and what proves it. No answer to a call follows.
enum { MOST_BYTES = 4096 };

typedef struct {
    int socket;
    double began;
    size_t received;
    tls_client tls;
} connection;

static int poller, is_whole, is_stopping, has_failed;
static long begun, ended, open_count;
static double most_late, longest;
static uint8_t call_bytes[MOST_CALL];
static slice call = {call_bytes, 0};
static struct sockaddr_in server = {.sin_family = AF_INET}, source = {.sin_family = AF_INET};

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// Closes a connection that has ended as it should, or for which there is a fault.
static void end(connection *connection, const char *fault) {
    double time = seconds() - connection->began;
    if (fault && !has_failed) fprintf(stderr, "a handshake failed: %s\n", fault);
    if (fault) has_failed = 1;
    else ended++;
    if (time > longest) longest = time;
    open_count--;
    if (connection->socket >= 0) close(connection->socket);
    free(connection);
}

// Sends a part of the output; false where the kernel does not take all of it.
static int send_output(connection *connection, size_t from, size_t to) {
    ssize_t count = send(connection->socket, connection->tls.output + from, to - from, MSG_NOSIGNAL);
    if (count >= 0) errno = EMSGSIZE;  // of a part that was taken
    return count == (ssize_t)(to - from);
}

static int connect_to_server(void) {
    int on = 1, made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct timeval most = {.tv_sec = LONGEST_SECONDS};  // of the connect, too
    if (made < 0) return -1;
    setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(made, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    setsockopt(made, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
    if (bind(made, (struct sockaddr *)&source, sizeof source) == 0
        && connect(made, (struct sockaddr *)&server, sizeof server) == 0)
        return made;
    int error = errno;
    close(made);
    errno = error;
    return -1;
}

static void begin(void) {
    connection *connection = calloc(1, sizeof *connection);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    begun++;
    open_count++;
    connection->began = seconds();
    connection->socket = connect_to_server();
    client_begin(&connection->tls);
    size_t count = connection->tls.output_count;
    if (!is_whole && begun % 2) count /= 2;
    if (connection->socket < 0 || epoll_ctl(poller, EPOLL_CTL_ADD, connection->socket, &event) != 0
        || !send_output(connection, 0, count))
        end(connection, strerror(errno));
}

// Whether a frame answers call 1, and not with a status (fields 1, 2 and 3 of ServerFrame).
static int is_answer(slice frame) {
    size_t place = 4 + 2;
    if (frame.count < place || memcmp(frame.bytes + 4, "\x08\x01", 2) != 0) return 0;
    if (place < frame.count && frame.bytes[place] == 0x10)
        while (++place < frame.count && frame.bytes[place] & 0x80) {}
    return frame.count == place || frame.bytes[place] != 0x1a;
}

static void go_on_whole(connection *connection, size_t count) {
    tls_client *tls = &connection->tls;
    if (!count) return end(connection, "the service closed the connection");
    tls->input_count += count;
    client_continue(tls, call);
    if (tls->state == FAILED)
        end(connection, tls->fault);
    else if (tls->state == ANSWERED)
        end(connection, is_answer(tls->answer) ? NULL : "its call was refused");
    else if (tls->output_count
             && (!send_output(connection, 0, tls->first_count)
                 || !send_output(connection, tls->first_count, tls->output_count)))
        end(connection, strerror(errno));
}

static void go_on_half(connection *connection, size_t count) {
    connection->received += count;
    if (connection->received > MOST_BYTES)
        end(connection, "half a handshake got more than an answer to a ClientHello");
    else if (!count)
        end(connection, NULL);
}

static void go_on(connection *connection) {
    tls_client *tls = &connection->tls;
    size_t place = is_whole ? tls->input_count : 0;
    ssize_t count = recv(connection->socket, tls->input + place, INPUT - place, MSG_DONTWAIT);
    if (count < 0 && errno == EAGAIN) return;
    if (count < 0 && !is_whole && errno == ECONNRESET) count = 0;
    if (count < 0) end(connection, strerror(errno));
    else if (is_whole) go_on_whole(connection, (size_t)count);
    else go_on_half(connection, (size_t)count);
}

static void serve(int milliseconds) {
    struct epoll_event events[EVENTS];
    char nothing;
    int count = epoll_wait(poller, events, EVENTS, milliseconds);
    for (int place = 0; place < count; place++) {
        if (events[place].data.ptr) go_on(events[place].data.ptr);
        else if (read(STDIN_FILENO, &nothing, 1) == 0) is_stopping = 1;
    }
}

// How many should have begun by a time: the first one at once.
static long due(double time, double rate) { return 1 + (long)(time * rate); }

// Begins what is due, some at once: answers do not wait for the rest.
static void begin_due(double time, double rate) {
    double late = time - (double)begun / rate;
    if (late > most_late) most_late = late;
    for (int place = 0; place < MOST_AT_ONCE && begun < due(time, rate); place++) begin();
}

static double work(double rate) {
    double start = seconds(), time = 0;
    while (!is_stopping && !has_failed) {
        begin_due(time, rate);
        serve(begun < due(time, rate) ? 0 : WAIT_MILLISECONDS);
        time = seconds() - start;
    }
    epoll_ctl(poller, EPOLL_CTL_DEL, STDIN_FILENO, NULL);
    double last = seconds() + LONGEST_SECONDS;
    while (open_count && !has_failed && seconds() < last) serve(WAIT_MILLISECONDS);
    return time;
}

// The bytes of hexadecimal digits; false where there are none, too many, or others.
static int read_call(const char *digits) {
    size_t count = strlen(digits) / 2;
    if (!count || strlen(digits) % 2 || count > MOST_CALL
        || strspn(digits, "0123456789abcdef") != 2 * count)
        return 0;
    for (call.count = 0; call.count < count; call.count++)
        sscanf(digits + 2 * call.count, "%2hhx", &call_bytes[call.count]);
    return 1;
}

static double read_arguments(int count, char **arguments) {
    int port = count > 2 ? atoi(arguments[2]) : 0;
    double rate = count > 4 ? atof(arguments[4]) : 0;
    is_whole = count == 6 && strcmp(arguments[1], "whole") == 0 && read_call(arguments[5]);
    int is_half = count == 5 && strcmp(arguments[1], "half") == 0;
    if ((!is_whole && !is_half) || port < 1 || port > 65535 || rate <= 0
        || inet_pton(AF_INET, arguments[3], &source.sin_addr) != 1) {
        fprintf(stderr, "usage: handshakes whole PORT SOURCE RATE CALL | half PORT SOURCE RATE\n");
        exit(2);
    }
    server.sin_port = htons((uint16_t)port);
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return rate;
}

// Half handshakes keep thousands of connections open.
static void raise_open_files(void) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

int main(int count, char **arguments) {
    double rate = read_arguments(count, arguments);
    raise_open_files();
    poller = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, STDIN_FILENO, &event) != 0) {
        fprintf(stderr, "handshakes: the input is no pipe: %s\n", strerror(errno));
        return 2;
    }
    double time = work(rate);
    printf("{\"begun\": %ld, \"ended\": %ld, \"open\": %ld, \"seconds\": %.3f, \"most_late_seconds\": %.3f, "
           "\"longest_seconds\": %.3f}\n", begun, ended, open_count, time, most_late, longest);
    return has_failed;
}
