// The minimal client of every comparison, on one thread over epoll: each connection keeps a number
// of votes in flight, and whatever answers a read brought, as many votes leave in one write.
// Processor times and answers are read at the same instants, after a warm-up.
//
//   Benchmarks/Floor/build.sh DIRECTORY && DIRECTORY/pump --help
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "answers.h"
#include "keys.h"
#include "latency.h"
#include "options.h"
#include "secured.h"
#include "timers.h"
#include "usage.h"

enum {
    EVENT_COUNT = 512,
    RECEIVE_BYTE_COUNT = 256 * 1024,
    MOST_IN_FLIGHT = 1024,         // requests a connection; an open loop skips what is beyond
    CREATES_IN_FLIGHT = 64,
    IMPORTS_IN_FLIGHT = 4,         // of up to 60 kB each
    SILENCE_MILLISECONDS = 20000,  // with nothing to read, after which the run has failed
};

typedef enum { VOTES, PAGES, FIRST_PAGES, CREATES, KIND_COUNT } kind;

typedef struct {
    int socket;
    secured *secured;  // with --tls
    kind kind;
    uint64_t sent;
    answer_reader reader;
    uint64_t *due;  // when each request in flight was due, where latencies are kept
} connection;

static options asked;
static key_source keys;
static int poller;
static connection *connections;
static int connection_count;
static int phase_timer = -1;
static int tick_timer = -1;    // every millisecond, where a loop is open
static uint64_t answered[KIND_COUNT];
static uint64_t first_tick, ticks, due_now;  // when it began, how often it rang; the one in work
static uint64_t measured_since = UINT64_MAX;  // latencies count of requests due from then on
static uint64_t skipped;  // requests of an open loop for which there was no room, or no time
static uint64_t text_bytes;  // of created posts
static uint64_t received_bytes;  // in the measured time
static char receive_buffer[RECEIVE_BYTE_COUNT];
static char plain_buffer[RECEIVE_BYTE_COUNT + 16384];  // with --tls
static char send_buffer[MOST_IN_FLIGHT * REQUEST_BYTE_LIMIT];

static void fail(const char *what) {
    fprintf(stderr, "pump: %s: %s.\n", what, strerror(errno));
    exit(1);
}

static void open_connection(kind kind) {
    connection *connection = &connections[connection_count++];
    connection->kind = kind;
    if (asked.burst && kind == VOTES) connection->due = calloc(MOST_IN_FLIGHT, sizeof(uint64_t));
    connection->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection->socket < 0) fail("socket");
    int on = 1;
    setsockopt(connection->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)asked.port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    if (connect(connection->socket, (struct sockaddr *)&address, sizeof address) != 0)
        fail("connect");
    if (asked.tls) connection->secured = secured_open(connection->socket);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, connection->socket, &event) != 0) fail("epoll_ctl");
}

static uint64_t requests_to_create(void) {
    return (asked.create + asked.batch - 1) / asked.batch;
}

static size_t write_creation(char *out, uint64_t id) {
    if (asked.batch == 1) return request_create(out, id, asked.feed, id - 1, &text_bytes);
    uint64_t first = (id - 1) * asked.batch, rest = asked.create - first;
    return request_import(out, id, first, rest < asked.batch ? rest : asked.batch, &text_bytes);
}

static uint64_t next_key(void) { return keys_next(&keys); }

// One of the users of this connection, which is the only one that acts for them.
static uint64_t draw_voter(const connection *connection, uint64_t drawn) {
    uint64_t count = (uint64_t)asked.connections, number = (uint64_t)(connection - connections);
    uint64_t share = (asked.voters + count - 1 - number) / count;
    return number + count * (uint64_t)(((unsigned __int128)drawn * share) >> 64);
}

static size_t write_ballot(const connection *connection, char *out, uint64_t id) {
    uint64_t drawn = keys_random(&keys), voter = draw_voter(connection, drawn);
    unsigned part = drawn & 15;
    ballot ballot = part < 10 ? BALLOT_UP : part < 14 ? BALLOT_DOWN : BALLOT_CLEAR;
    uint64_t post = keys_next(&keys);
    return request_ballot(asked.protocol, out, id, voter, post, ballot, asked.script);
}

// Whether a request of a connection that votes is for a page: the same whenever it is asked.
static bool is_page(const connection *connection, uint64_t id) {
    key_source drawn = {.state = (uint64_t)(connection - connections) << 40 | id};
    return asked.page_share > 0 && keys_random(&drawn) % 100 < asked.page_share;
}

static size_t write_page(const connection *connection, char *out, uint64_t id) {
    page page = {.feed = asked.feed, .order = asked.order, .window = asked.window};
    if (asked.voters) page.user = 1ull << 63 | draw_voter(connection, keys_random(&keys));
    const answer_reader *reader = &connection->reader;
    if (asked.further) page.token = keys_random(&keys) % 8 ? &reader->next : &reader->first;
    return request_page(asked.protocol, out, id, page, asked.script);
}

static size_t write_request(connection *connection, char *out) {
    uint64_t id = ++connection->sent;
    if (connection->due) connection->due[id % MOST_IN_FLIGHT] = due_now;
    switch (connection->kind) {
        case VOTES:
            if (is_page(connection, id)) return write_page(connection, out, id);
            if (asked.voters) return write_ballot(connection, out, id);
            if (asked.batch_votes > 1)
                return request_batch(out, id, asked.batch_votes, next_key);
            return request_vote(asked.protocol, out, id, keys_next(&keys));
        case PAGES:
        case FIRST_PAGES: {
            static const unsigned orders[] = {1, 2, 4};  // TOP, NEW, HOT
            uint64_t turn = connection->kind == PAGES ? 0 : (id - 1) % 3;
            page page = {.feed = asked.feed, .order = orders[turn]};
            return request_page(asked.protocol, out, id, page, asked.script);
        }
        default: return write_creation(out, id);
    }
}

// Sends `count` requests in one write, which waits for room; answers never take so much that the
// server would wait for us meanwhile.
static void send_requests(connection *connection, uint64_t count) {
    if (connection->kind == CREATES && count > requests_to_create() - connection->sent)
        count = requests_to_create() - connection->sent;
    size_t length = 0;
    for (uint64_t i = 0; i < count; i++) length += write_request(connection, send_buffer + length);
    if (length == 0) return;
    if (connection->secured) {
        if (!secured_send(connection->secured, send_buffer, length)) fail("send");
        return;
    }
    ssize_t written = send(connection->socket, send_buffer, length, MSG_NOSIGNAL);
    if (written != (ssize_t)length) fail(written < 0 ? "send" : "a write was short");
}

// Sends `count` requests of an open loop, as far as there is room.
static void send_due(connection *connection, uint64_t count) {
    uint64_t room = MOST_IN_FLIGHT - (connection->sent - connection->reader.answered);
    if (count > room) {
        skipped += count - room;
        count = room;
    }
    send_requests(connection, count);
}

// Counts how long the requests from number `first` to `last` took, or have taken as yet.
static void record_latencies(const connection *connection, uint64_t first, uint64_t last) {
    if (!connection->due || first > last) return;
    uint64_t now = latency_clock();
    for (uint64_t id = first; id <= last; id++) {
        uint64_t due = connection->due[id % MOST_IN_FLIGHT];
        if (due >= measured_since) latency_record(now - due);
    }
}

static void read_answers(connection *connection) {
    ssize_t count = recv(connection->socket, receive_buffer, RECEIVE_BYTE_COUNT, MSG_DONTWAIT);
    if (count < 0 && errno == EAGAIN) return;
    if (count == 0) errno = ECONNRESET;
    if (count <= 0) fail("the server closed a connection");
    received_bytes += (uint64_t)count;
    const char *bytes = receive_buffer;
    if (connection->secured) {
        count = secured_receive(
            connection->secured, receive_buffer, (size_t)count, plain_buffer, sizeof plain_buffer);
        if (count < 0) fail("the server sent no TLS");
        bytes = plain_buffer;
    }
    uint64_t every = connection->kind == VOTES && !asked.further ? asked.check_every : 1;
    uint64_t answers = answers_read(
        asked.protocol, &connection->reader, bytes, (size_t)count, every,
        asked.batch_votes);
    uint64_t last = connection->reader.answered, pages = 0;
    for (uint64_t id = last - answers + 1; connection->kind == VOTES && id <= last; id++)
        pages += is_page(connection, id);
    answered[PAGES] += pages;
    answered[connection->kind] += answers - pages;
    record_latencies(connection, last - answers + 1, last);
    bool open_loop = connection->kind == FIRST_PAGES
        || (connection->kind == VOTES && asked.vote_rate > 0);
    if (!open_loop && answers > 0) send_requests(connection, answers);
}

static void set_timer(int *timer, double first, double interval) {
    if (!timer_set(poller, timer, first, interval)) fail("timer");
}

// Sends whole bursts of what is due, each over the connection whose turn it is.
static void send_bursts(uint64_t *votes_due) {
    static int turn;
    if (asked.burst == 0 || asked.connections == 0) return;
    for (; *votes_due >= asked.burst * 1000; *votes_due -= asked.burst * 1000) {
        send_due(&connections[turn], asked.burst);  // those that vote are the first ones
        turn = (turn + 1) % asked.connections;
    }
}

// What falls due in a number of milliseconds: votes, and first pages.
static void send_all_due(uint64_t milliseconds) {
    static uint64_t votes_due, pages_due;  // requests of them, in thousandths
    uint64_t request_rate = asked.vote_rate / asked.batch_votes;
    due_now = first_tick + ticks * 1000000;  // the oldest of them, for all: no latency is too good
    ticks += milliseconds;
    if (milliseconds > 100) {  // the client itself was held up
        skipped += (milliseconds - 100) * request_rate / 1000;
        milliseconds = 100;
    }
    votes_due += milliseconds * request_rate;
    pages_due += milliseconds * (uint64_t)asked.first_page_rate;
    send_bursts(&votes_due);
    uint64_t share = asked.burst ? 0 : votes_due / 1000 / (uint64_t)(asked.connections ? asked.connections : 1);
    for (int i = 0; i < connection_count; i++) {
        connection *connection = &connections[i];
        if (connection->kind == VOTES && share > 0) {
            send_due(connection, share);
            votes_due -= share * 1000;
        } else if (connection->kind == FIRST_PAGES) {
            send_due(connection, pages_due / 1000);
            pages_due %= 1000;
        }
    }
}

// Whether there was a job to finish, and it is finished.
static bool is_done(void) {
    if (asked.create) return answered[CREATES] == requests_to_create();
    return asked.read_orders && answered[FIRST_PAGES] == (uint64_t)asked.read_orders;
}

// Lets time pass until the phase ends: by its timer, or with the job.
static void run_phase(void) {
    struct epoll_event events[EVENT_COUNT];
    for (;;) {
        bool rang = false;
        int count = epoll_wait(poller, events, EVENT_COUNT, SILENCE_MILLISECONDS);
        if (count < 0 && errno != EINTR) fail("epoll_wait");
        for (int i = 0; i < count; i++) {
            void *source = events[i].data.ptr;
            if (source == &phase_timer) rang = timer_expirations(phase_timer) > 0;
            else if (source == &tick_timer) send_all_due(timer_expirations(tick_timer));
            else read_answers(source);
        }
        if (rang || is_done()) return;
        if (count == 0) errno = ETIMEDOUT, fail("no answer");
    }
}

static void open_all(void) {
    bool job = asked.create || asked.read_orders;
    int votes = job ? 0 : asked.connections, pages = job ? 0 : asked.page_connections;
    connections = calloc((size_t)(votes + pages + 1), sizeof *connections);
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    for (int i = 0; i < votes; i++) open_connection(VOTES);
    for (int i = 0; i < pages; i++) open_connection(PAGES);
    if (asked.create) open_connection(CREATES);
    else if (asked.first_page_rate || asked.read_orders) open_connection(FIRST_PAGES);
}

// Sends what is in flight from the start; the rest follows answers, or the tick of an open loop.
static void start(void) {
    for (int i = 0; i < connection_count; i++) {
        connection *connection = &connections[i];
        uint64_t count = 0;
        switch (connection->kind) {
            case VOTES: count = asked.vote_rate ? 0 : (uint64_t)asked.in_flight; break;
            case PAGES: count = (uint64_t)asked.pages_in_flight; break;
            case FIRST_PAGES: count = (uint64_t)asked.read_orders; break;
            default: count = asked.batch > 1 ? IMPORTS_IN_FLIGHT : CREATES_IN_FLIGHT; break;
        }
        send_requests(connection, count);
    }
    if (asked.vote_rate || asked.first_page_rate) set_timer(&tick_timer, 0.001, 0.001);
    first_tick = latency_clock() + 1000000;
}

// Prints the result and returns the exit code: 1 where an answer was not what it had to be.
static int report(usage used, const uint64_t before[KIND_COUNT]) {
    uint64_t checked = 0, refused = 0, last_post_id = 0;
    for (int i = 0; i < connection_count; i++) {
        const answer_reader *reader = &connections[i].reader;
        if (refused == 0 && reader->refused > 0)
            fprintf(stderr, "pump: a wrong answer: %s\n", reader->complaint);
        record_latencies(&connections[i], reader->answered + 1, connections[i].sent);
        checked += reader->checked;
        refused += reader->refused;
        if (connections[i].kind == CREATES) last_post_id = reader->last_post_id;
    }
    printf("{\"connections\": %d, \"in_flight\": %d, \"posts\": %" PRIu64 ", \"zipf\": %g, ",
        asked.connections, asked.in_flight, asked.posts, asked.zipf);
    printf("\"batch\": %" PRIu64 ", \"voters\": %" PRIu64 ", ", asked.batch_votes, asked.voters);
    printf("\"seconds\": %.6f, \"votes\": %" PRIu64 ", \"pages\": %" PRIu64 ", ", used.time,
        (answered[VOTES] - before[VOTES]) * asked.batch_votes, answered[PAGES] - before[PAGES]);
    printf("\"received_bytes\": %" PRIu64 ", ", received_bytes);
    printf("\"first_pages\": %" PRIu64 ", \"skipped\": %" PRIu64 ", ",
        answered[FIRST_PAGES] - before[FIRST_PAGES], skipped);
    printf("\"latencies\": %" PRIu64 ", \"p50_ms\": %.3f, \"p99_ms\": %.3f, \"p999_ms\": %.3f, ",
        latency_count(), latency_milliseconds(0.5), latency_milliseconds(0.99),
        latency_milliseconds(0.999));
    printf("\"created\": %" PRIu64 ", \"last_post_id\": %" PRIu64 ", \"text_bytes\": %" PRIu64 ", ",
        asked.create, last_post_id, text_bytes);
    printf("\"checked\": %" PRIu64 ", \"refused\": %" PRIu64 ", ", checked, refused);
    printf("\"server_seconds\": %.6f, \"server_user_seconds\": %.2f, "
           "\"server_system_seconds\": %.2f, ",
        used.server, used.server_user, used.server_system);
    printf("\"client_seconds\": %.6f, \"busy_seconds\": %.2f, \"steal_seconds\": %.2f}\n",
        used.client, used.busy, used.steal);
    return refused > 0 || checked == 0;
}

int main(int count, char **arguments) {
    signal(SIGPIPE, SIG_IGN);
    asked = options_read(count, arguments);
    if (asked.zipf > 0) keys_open_zipf(&keys, asked.posts, asked.zipf, asked.seed);
    else keys_open_uniform(&keys, asked.posts, asked.seed);
    poller = epoll_create1(EPOLL_CLOEXEC);
    open_all();
    usage first = usage_now(asked.server);
    start();
    if (asked.create == 0 && asked.read_orders == 0) {
        set_timer(&phase_timer, asked.warmup_seconds, 0);
        run_phase();
        set_timer(&phase_timer, asked.seconds, 0);
        measured_since = latency_clock();
        skipped = received_bytes = 0;
        first = usage_now(asked.server);
    }
    uint64_t before[KIND_COUNT];
    memcpy(before, answered, sizeof before);
    run_phase();
    return report(usage_between(first, usage_now(asked.server)), before);
}
