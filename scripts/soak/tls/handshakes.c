// Opens connections with TLS at a rate. On each it makes a whole handshake and one call, or sends what a client
// begins with, or half of that, and waits until the service closes it.
//
//   cc -O2 -o handshakes handshakes.c client.c keys.c -lcrypto
//   handshakes whole PORT SOURCE RATE CALL < PIPE
//   handshakes half PORT SOURCE RATE < PIPE
//
// SOURCE is the address that connections come from, CALL a frame in hexadecimal digits. It goes on until the pipe is
// closed, then waits up to 12 s for what is open, and prints as JSON how many it has begun and how many of them have
// ended as they should, in how many seconds, and its processor time. The exit code is 1 where one failed.
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "client.h"

enum { EVENTS = 64, WAIT_MILLISECONDS = 1 };
// The service gives a handshake ten seconds, and looks after them each second.
enum { LONGEST_SECONDS = 12 };
// The answer to a ClientHello: the hello, the certificate and what proves it. An answer to a call follows none.
enum { MOST_BYTES = 4096 };

typedef struct {
    int socket;
    size_t received;
    client client;
} connection;

static int poller, is_whole, is_stopping, has_failed;
static long begun, ended, open_count;
static uint8_t call[MOST_CALL];
static size_t call_count;
static struct sockaddr_in server = {.sin_family = AF_INET}, source = {.sin_family = AF_INET};

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// Closes a connection that has ended as it should, or for which there is a fault.
static void end(connection *connection, const char *fault) {
    if (fault && !has_failed) fprintf(stderr, "a handshake failed: %s\n", fault);
    if (fault) has_failed = 1;
    else ended++;
    open_count--;
    close(connection->socket);
    free(connection);
}

static int is_sent(connection *connection, size_t count) {
    return send(connection->socket, connection->client.output, count, MSG_NOSIGNAL) == (ssize_t)count;
}

static void begin(void) {
    int on = 1;
    connection *connection = malloc(sizeof *connection);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    begun++;
    open_count++;
    connection->received = 0;
    connection->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(connection->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(connection->socket, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    client_begin(&connection->client);
    size_t count = connection->client.output_count;
    if (!is_whole && begun % 2) count /= 2;
    if (bind(connection->socket, (struct sockaddr *)&source, sizeof source) != 0
        || connect(connection->socket, (struct sockaddr *)&server, sizeof server) != 0
        || epoll_ctl(poller, EPOLL_CTL_ADD, connection->socket, &event) != 0 || !is_sent(connection, count))
        end(connection, strerror(errno));
}

static void go_on_whole(connection *connection, size_t count) {
    client *client = &connection->client;
    if (!count) return end(connection, "the service closed the connection");
    client->input_count += count;
    client_continue(client, (slice){call, call_count});
    if (client->output_count && !is_sent(connection, client->output_count))
        end(connection, strerror(errno));
    else if (client->state == FAILED)
        end(connection, client->fault);
    else if (client->state == ANSWERED)
        end(connection, NULL);
}

static void go_on_half(connection *connection, size_t count) {
    connection->received += count;
    if (connection->received > MOST_BYTES)
        end(connection, "half a handshake got more than an answer to a ClientHello");
    else if (!count)
        end(connection, NULL);
}

static void go_on(connection *connection) {
    client *client = &connection->client;
    size_t place = is_whole ? client->input_count : 0;
    ssize_t count = recv(connection->socket, client->input + place, INPUT - place, MSG_DONTWAIT);
    if (count < 0 && errno == EAGAIN) return;
    if (count < 0 && !is_whole && errno == ECONNRESET) count = 0;
    if (count < 0) end(connection, strerror(errno));
    else if (is_whole) go_on_whole(connection, (size_t)count);
    else go_on_half(connection, (size_t)count);
}

static void serve(void) {
    struct epoll_event events[EVENTS];
    char nothing;
    int count = epoll_wait(poller, events, EVENTS, WAIT_MILLISECONDS);
    for (int place = 0; place < count; place++) {
        if (events[place].data.ptr) go_on(events[place].data.ptr);
        else if (read(STDIN_FILENO, &nothing, 1) == 0) is_stopping = 1;
    }
}

static double work(double rate) {
    double start = seconds(), time = 0;
    while (!is_stopping) {
        time = seconds() - start;
        while (begun < (long)(time * rate)) begin();
        serve();
    }
    epoll_ctl(poller, EPOLL_CTL_DEL, STDIN_FILENO, NULL);
    double last = seconds() + LONGEST_SECONDS;
    while (open_count && seconds() < last) serve();
    return time;
}

static void read_arguments(int count, char **arguments) {
    is_whole = count == 6 && strcmp(arguments[1], "whole") == 0;
    if (!is_whole && (count != 5 || strcmp(arguments[1], "half") != 0)) {
        fprintf(stderr, "usage: handshakes whole PORT SOURCE RATE CALL | half PORT SOURCE RATE\n");
        exit(2);
    }
    server.sin_port = htons((uint16_t)atoi(arguments[2]));
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    source.sin_addr.s_addr = inet_addr(arguments[3]);
    if (!is_whole) return;
    for (const char *digits = arguments[5]; *digits && call_count < MOST_CALL; digits += 2)
        if (sscanf(digits, "%2hhx", &call[call_count++]) != 1) break;
}

int main(int count, char **arguments) {
    read_arguments(count, arguments);
    poller = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, STDIN_FILENO, &event) != 0) {
        fprintf(stderr, "handshakes: the input is no pipe: %s\n", strerror(errno));
        return 2;
    }
    double time = work(atof(arguments[4]));
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    double processor = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec)
        + (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
    printf("{\"begun\": %ld, \"ended\": %ld, \"open\": %ld, \"seconds\": %.3f, \"processor_seconds\": %.3f}\n",
           begun, ended, open_count, time, processor);
    return has_failed;
}
