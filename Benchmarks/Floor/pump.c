// The minimal client of every comparison, on one thread over epoll: each connection keeps a number
// of votes in flight, and whatever answers a read brought, as many votes leave in one write.
// Processor times and answers are read at the same instants, after a warm-up.
//
//   Benchmarks/Floor/build.sh DIRECTORY && DIRECTORY/pump --help
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum {
    EVENT_COUNT = 512,
    RECEIVE_BYTE_COUNT = 256 * 1024,
    MOST_IN_FLIGHT = 1024,         // requests a connection; an open loop skips what is beyond
    SILENCE_MILLISECONDS = 20000,  // with nothing to read, after which the run has failed
    REQUEST_BYTE_LIMIT = 1024,     // the longest request, but for batches
    BATCH_VOTES = 256,             // the most in one batch
    BATCH_BYTE_LIMIT = BATCH_VOTES * 15 + 64,
    PAGE_SIZE = 20,
    TOKEN_BYTE_LIMIT = 128,        // the longest token of a page
    DRAWN_COUNT = 1 << 22,         // keys that are drawn beforehand
    LATENCY_COUNT = 1000 * 1000 + 1,  // a microsecond each
};

// ---- What it is asked to do

static struct {
    uint64_t port, server, connections, in_flight, batch_votes, vote_rate, burst, voters, page_share;
    uint64_t order, window, posts, seed, first_page_rate, check_every;
    double zipf, warmup_seconds, seconds;
    const char *protocol, *feed, *script;
    bool further;
} asked = {
    .connections = 500, .in_flight = 1, .batch_votes = 1, .order = 1, .posts = 100000, .seed = 1,
    .warmup_seconds = 1, .seconds = 3, .check_every = 64, .protocol = "feed", .feed = "posts",
};

// A flag: where its value goes, between which numbers it is (of a text, its length), and what it means.
typedef struct {
    const char *name;
    enum { WHOLE, REAL, TEXT, SET } kind;
    void *value;
    double least, most;
    const char *meaning;
} flag;

static const flag flags[] = {
    {"port", WHOLE, &asked.port, 1, 65535, "of the server, on 127.0.0.1"},
    {"server-pid", WHOLE, &asked.server, 1, 1 << 30, "whose processor time is read"},
    {"protocol", TEXT, &asked.protocol, 4, 4, "feed: frames of the service, or of an echo; resp: Redis's"},
    {"connections", WHOLE, &asked.connections, 1, 10000, "that vote"},
    {"in-flight", WHOLE, &asked.in_flight, 1, 1024, "requests on each; as many leave as a read brought back"},
    {"batch", WHOLE, &asked.batch_votes, 1, BATCH_VOTES, "votes in each request; 1: a CastVote"},
    {"vote-rate", WHOLE, &asked.vote_rate, 1000, 1e7, "a second, sent each millisecond, answered or not"},
    {"burst", WHOLE, &asked.burst, 0, 1024,
     "connections take turns, each with so many of these in one write; latencies are kept"},
    {"voters", WHOLE, &asked.voters, 0, 1e8 - 1,
     "users who change their ballots: 10 of 16 up, 4 down, 2 taken back; a user belongs to one connection"},
    {"page-share", WHOLE, &asked.page_share, 0, 100,
     "of 100 requests on those connections, so many are for pages, of those users if there are any"},
    {"order", WHOLE, &asked.order, 1, 8, "of those pages, by its number in the contract"},
    {"window", WHOLE, &asked.window, 0, 5, "likewise"},
    {"further", SET, &asked.further, 0, 0,
     "those pages are by token: behind the one before, or one of eight behind the first page"},
    {"feed", TEXT, &asked.feed, 1, 63, "pages are of it"},
    {"posts", WHOLE, &asked.posts, 1, 4e9, "posts 1 to this one are voted on"},
    {"zipf", REAL, &asked.zipf, 0, 10, "exponent of their shares by rank, scattered; 0: all are as likely"},
    {"seed", WHOLE, &asked.seed, 0, 1e15, "of the choice of posts"},
    {"warmup", REAL, &asked.warmup_seconds, 0, 3600, "seconds before the clocks are read"},
    {"seconds", REAL, &asked.seconds, 0, 3600, "between the readings"},
    {"first-page-rate", WHOLE, &asked.first_page_rate, 0, 1000, "beside, TOP, NEW and HOT pages a second"},
    {"script", TEXT, &asked.script, 40, 40, "SHA of the script that makes Redis's page, or casts a ballot"},
    {"check-every", WHOLE, &asked.check_every, 1, 1e9, "one answer in so many is decoded"},
};
enum { FLAG_COUNT = sizeof flags / sizeof *flags };

static void need(bool holds, const char *words) {
    if (holds) return;
    fprintf(stderr, "pump: %s.\n", words);
    exit(2);
}

static void take(const flag *flag, const char *text) {
    char *end = NULL, words[256];
    double number = flag->kind == TEXT ? (double)strlen(text) : strtod(text, &end);
    snprintf(words, sizeof words, "--%s: expected %.0f to %.0f%s, got %s", flag->name, flag->least, flag->most,
        end ? "" : " bytes", text);
    need((!end || (end != text && !*end)) && number >= flag->least && number <= flag->most, words);
    if (flag->kind == TEXT) *(const char **)flag->value = text;
    else if (flag->kind == REAL) *(double *)flag->value = number;
    else *(uint64_t *)flag->value = (uint64_t)number;
}

static void print_help(void) {
    puts("pump --port PORT [options]\n"
         "Sends votes over loopback and prints one line of JSON: answers, and processor time.\n");
    for (int i = 0; i < FLAG_COUNT; i++) printf("  --%-17s %s\n", flags[i].name, flags[i].meaning);
}

static bool is_resp;  // what is spoken: Redis's protocol, and not frames of the service

// Reads the command line; a wrong one ends the process with exit code 2.
static void read_options(int count, char **arguments) {
    struct option known[FLAG_COUNT + 2] = {[FLAG_COUNT] = {"help", no_argument, NULL, 'h'}};
    for (int i = 0; i < FLAG_COUNT; i++) {
        int has_value = flags[i].kind == SET ? no_argument : required_argument;
        known[i] = (struct option){flags[i].name, has_value, NULL, 1};
    }
    for (int found, index = 0; (found = getopt_long(count, arguments, "", known, &index)) != -1;) {
        if (found == 'h') print_help(), exit(0);
        if (found != 1) exit(2);  // getopt has named the flag
        if (flags[index].kind == SET) *(bool *)flags[index].value = true;
        else take(&flags[index], optarg);
    }
    is_resp = strcmp(asked.protocol, "resp") == 0;
    need(is_resp || !strcmp(asked.protocol, "feed"), "--protocol is feed or resp");
    need(optind == count && asked.port, "it takes flags alone, and needs a --port");
    need(!asked.burst == !asked.vote_rate, "--burst and --vote-rate need each other");
    need(asked.batch_votes == 1 || (!is_resp && !asked.voters && asked.in_flight <= 256),
        "--batch takes neither --protocol resp nor --voters, and 256 in flight at most");
    need(asked.batch_votes == 1 || asked.burst <= 256, "--batch with a --burst of 256 at most");
    need(!is_resp || asked.script || !(asked.page_share || asked.voters),
        "pages and ballots of Redis need a --script");
    need(!is_resp || !asked.page_share || !asked.voters, "Redis takes either --page-share or --voters");
    need(!asked.voters || asked.voters >= asked.connections, "--voters: at least one for each connection");
}

static void fail(const char *what) {
    fprintf(stderr, "pump: %s: %s.\n", what, strerror(errno));
    exit(1);
}

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (!memory) fail("memory");
    return memory;
}

// ---- Which post the next vote is for

typedef struct {
    uint64_t state;    // of the random numbers
    uint32_t *drawn;   // posts drawn beforehand, or NULL: every post is as likely
    uint64_t next;     // the next of `drawn`
} key_source;

static key_source keys;

// splitmix64 (Steele, Lea, Flood 2014).
static inline uint64_t random_number(key_source *keys) {
    uint64_t z = (keys->state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

// A post, counted from 0.
static inline uint64_t next_key(void) {
    if (keys.drawn) return keys.drawn[keys.next++ & (DRAWN_COUNT - 1)];
    return (uint64_t)(((unsigned __int128)random_number(&keys) * asked.posts) >> 64);
}

// The first of `sums` that is above `sum`.
static uint32_t rank_at(const double *sums, uint64_t count, double sum) {
    uint64_t low = 0, high = count - 1;
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        if (sums[middle] > sum) high = middle;
        else low = middle + 1;
    }
    return (uint32_t)low;
}

// The post of rank r has a share of r^-zipf; ranks are scattered over the posts. The posts are drawn
// beforehand, so that drawing costs the client nothing in the run.
static void draw_zipf(uint64_t count) {
    double *sums = allocate(count, sizeof *sums), sum = 0;
    uint32_t *posts = allocate(count, sizeof *posts);
    for (uint64_t rank = 0; rank < count; rank++) {
        sum += pow((double)(rank + 1), -asked.zipf);
        sums[rank] = sum;
        uint64_t other = random_number(&keys) % (rank + 1);  // Fisher and Yates, inside out
        posts[rank] = posts[other];
        posts[other] = (uint32_t)rank;
    }
    uint32_t *drawn = allocate(DRAWN_COUNT, sizeof *drawn);
    for (int i = 0; i < DRAWN_COUNT; i++)
        drawn[i] = posts[rank_at(sums, count, (double)(random_number(&keys) >> 11) * 0x1p-53 * sum)];
    keys.drawn = drawn;
    free(sums);
    free(posts);
}

// ---- Requests: the service's own frames, which an echo server sends back, and RESP, which Redis speaks

// A token of a page; without bytes there is none.
typedef struct {
    size_t count;
    char bytes[TOKEN_BYTE_LIMIT];
} page_token;

// A page: order and window by their numbers on the wire, for a user of that id, or 0.
typedef struct {
    uint64_t order, window, user;
    const page_token *token;  // or NULL: the first page
} page;

static char *varint(char *out, uint64_t value) {
    for (; value >= 0x80; value >>= 7) *out++ = (char)(value | 0x80);
    *out++ = (char)value;
    return out;
}

static char *number(char *out, unsigned field, uint64_t value) {
    return varint(varint(out, field << 3), value);
}

static char *bytes(char *out, unsigned field, const char *content, size_t count) {
    out = varint(varint(out, field << 3 | 2), count);
    memcpy(out, content, count);
    return out + count;
}

// A frame: its length, the id of the call, the user for whom it acts where that is not 0, and the
// call with its body, which ends at `body_end`.
static size_t frame(
    char *out, uint64_t id, uint64_t user, unsigned call, const char *body, const char *body_end) {
    char *end = number(out + 4, 1, id);
    if (user > 0) end = number(end, 5, user);
    end = bytes(end, call, body, (size_t)(body_end - body));
    size_t length = (size_t)(end - out) - 4;
    for (int i = 0; i < 4; i++) out[i] = (char)(length >> (24 - 8 * i));
    return length + 4;
}

static size_t write_vote(char *out, uint64_t id) {
    uint64_t post = next_key();
    if (is_resp)
        return (size_t)sprintf(
            out, "*4\r\n$7\r\nZINCRBY\r\n$5\r\nposts\r\n$1\r\n1\r\n$13\r\np%012" PRIu64 "\r\n", post);
    char body[32];
    return frame(out, id, 0, 40, body, number(number(body, 1, post + 1), 2, 1));  // the post's id, UP
}

// A ballot of a voter, counted from 0. The feed protocol acts for the user of that number, whose id has
// the top bit set; RESP calls the script.
static size_t write_ballot_of(char *out, uint64_t id, uint64_t voter, uint64_t drawn) {
    uint64_t post = next_key();
    unsigned part = drawn & 15, direction = part < 10 ? 1 : part < 14 ? 2 : 3;  // UP, DOWN, CLEAR
    if (is_resp) {
        static const char *scores[] = {"", "1", "-1", "0"};
        // The post's ballots and the posts; the voter, the member and its part of the score.
        return (size_t)sprintf(
            out, "*8\r\n$7\r\nEVALSHA\r\n$40\r\n%.40s\r\n$1\r\n2\r\n$13\r\nb%012" PRIu64
            "\r\n$5\r\nposts\r\n$8\r\n%08" PRIu64 "\r\n$13\r\np%012" PRIu64 "\r\n$%zu\r\n%s\r\n",
            asked.script, post, voter, post, strlen(scores[direction]), scores[direction]);
    }
    char body[32];
    return frame(out, id, 1ull << 63 | voter, 40, body, number(number(body, 1, post + 1), 2, direction));
}

static size_t write_batch(char *out, uint64_t id) {
    char body[BATCH_BYTE_LIMIT], *end = body;
    for (uint64_t i = 0; i < asked.batch_votes; i++) {
        char vote[16], *vote_end = number(number(vote, 1, next_key() + 1), 2, 1);  // the post's id, UP
        end = bytes(end, 1, vote, (size_t)(vote_end - vote));
    }
    return frame(out, id, 0, 41, body, end);
}

// RESP has the first page of TOP alone, by the script.
static size_t write_page_of(char *out, uint64_t id, page page) {
    if (is_resp)
        return (size_t)sprintf(
            out, "*4\r\n$7\r\nEVALSHA\r\n$40\r\n%.40s\r\n$1\r\n1\r\n$5\r\nposts\r\n", asked.script);
    char body[96 + TOKEN_BYTE_LIMIT];
    char *end = number(bytes(body, 1, asked.feed, strlen(asked.feed)), 2, page.order);
    if (page.window) end = number(end, 3, page.window);
    end = number(end, 4, PAGE_SIZE);
    if (page.token && page.token->count > 0) end = bytes(end, 5, page.token->bytes, page.token->count);
    return frame(out, id, page.user, 33, body, end);
}

// ---- Answers: how many there are, and of some whether they say what they must

// How far the answers on a connection have been read: a read may cut them anywhere.
typedef struct {
    uint64_t skip_byte_count;  // of the current body, still to come
    uint64_t pending_values;   // RESP: values of the current answer, still to come
    uint64_t answered;         // answers so far
    uint64_t checked;          // of them, those that were decoded
    uint64_t refused;          // of those, errors and answers to another request than is due
    page_token first, next;    // of the pages behind the first decoded one, and behind the last
    uint32_t header_length;    // bytes in `header`
    char header[64];           // the part of a length prefix, or of a line of RESP
    char complaint[128];       // the first refusal, for people
} answer_reader;

// The value of the varint at `*at`, which moves behind it.
static uint64_t read_varint(const unsigned char **at, const unsigned char *end) {
    uint64_t value = 0;
    for (int shift = 0; *at < end && shift < 64; shift += 7) {
        unsigned char byte = *(*at)++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) break;
    }
    return value;
}

// Takes the token of the page after a ListPostsResponse; whether it holds as many posts as asked for.
static bool is_full_page(answer_reader *reader, const unsigned char *at, const unsigned char *end) {
    reader->next.count = 0;
    int posts = 0;
    while (at < end) {
        uint64_t tag = read_varint(&at, end), value = read_varint(&at, end);
        posts += tag == (1 << 3 | 2);
        if ((tag & 7) != 2) continue;
        if (value > (uint64_t)(end - at)) return false;
        if (tag >> 3 == 2 && value <= TOKEN_BYTE_LIMIT) {
            reader->next.count = value;
            memcpy(reader->next.bytes, at, value);
            if (reader->first.count == 0) reader->first = reader->next;
        }
        at += value;
    }
    return posts == PAGE_SIZE;
}

// Whether a BatchCastVotesResponse holds as many results as votes were sent, none of them a status.
// An echo returns the votes, which look alike.
static bool is_full_batch(const unsigned char *at, const unsigned char *end) {
    uint64_t results = 0;
    while (at < end) {
        uint64_t tag = read_varint(&at, end), count = read_varint(&at, end);
        if (tag != (1 << 3 | 2) || count == 0 || count > (uint64_t)(end - at)) return false;
        if (*at == (1 << 3 | 2)) return false;
        results++;
        at += count;
    }
    return results == asked.batch_votes;
}

// Decodes a whole ServerFrame (or the request that an echo returned): it must name the request
// that is due, and hold an answer instead of a status.
static void check_frame(answer_reader *reader, const char *body, size_t count) {
    const unsigned char *at = (const unsigned char *)body, *end = at + count;
    uint64_t id = 0, answer = 0;
    while (at < end) {
        uint64_t tag = read_varint(&at, end), value = read_varint(&at, end);
        if (tag == (1 << 3)) id = value;
        if ((tag & 7) != 2) continue;
        if (tag >> 3 == 3) {
            answer = 0;
            break;
        }
        answer = tag >> 3;
        if (value > (uint64_t)(end - at)) break;
        if (answer == 33 && !is_full_page(reader, at, at + value)) id = 0;
        if (answer == 41 && !is_full_batch(at, at + value)) id = 0;
        at += value;
    }
    reader->checked++;
    if (id == reader->answered + 1 && answer != 0) return;
    if (reader->refused++ > 0) return;
    int shown = snprintf(
        reader->complaint, sizeof reader->complaint, "to request %" PRIu64 ", where %" PRIu64 " is due: ", id,
        reader->answered + 1);
    for (size_t i = 0; i < count && shown < (int)sizeof reader->complaint - 1; i++)
        reader->complaint[shown++] = body[i] >= ' ' && body[i] < 127 ? body[i] : '.';
}

// Passes over the current body, or text, as far as it is there.
static const char *skip(answer_reader *reader, const char *at, const char *end) {
    uint64_t step = (uint64_t)(end - at);
    if (step > reader->skip_byte_count) step = reader->skip_byte_count;
    reader->skip_byte_count -= step;
    return at + step;
}

// Of frames that came whole every `check_every`th is decoded.
static void read_frames(answer_reader *reader, const char *at, const char *end, uint64_t check_every) {
    while (at < end) {
        if (reader->skip_byte_count > 0) {
            at = skip(reader, at, end);
            if (reader->skip_byte_count == 0) reader->answered++;
            continue;
        }
        reader->header[reader->header_length++] = *at++;
        if (reader->header_length < 4) continue;
        const unsigned char *h = (const unsigned char *)reader->header;
        uint32_t length = (uint32_t)h[0] << 24 | (uint32_t)h[1] << 16 | (uint32_t)h[2] << 8 | h[3];
        reader->header_length = 0;
        reader->skip_byte_count = length;
        if ((size_t)(end - at) >= length && reader->answered % check_every == 0)
            check_frame(reader, at, length);
    }
}

// Takes a line of RESP: a value of its own, or the length of a text or of a list.
static void take_line(answer_reader *reader) {
    const char *line = reader->header;
    if (reader->pending_values == 0) reader->pending_values = 1;
    reader->pending_values--;
    if (line[0] == '$' && line[1] != '-') {
        reader->skip_byte_count = strtoull(line + 1, NULL, 10) + 2;  // and its line end
        reader->pending_values++;
    } else if (line[0] == '*' && line[1] != '-') {
        reader->pending_values += strtoull(line + 1, NULL, 10);
    } else if (line[0] == '-' && reader->refused++ == 0) {
        snprintf(reader->complaint, sizeof reader->complaint, "%s", line);
    }
}

static void read_resp(answer_reader *reader, const char *at, const char *end) {
    while (at < end) {
        if (reader->skip_byte_count > 0) {
            at = skip(reader, at, end);
            if (reader->skip_byte_count == 0) reader->pending_values--;
        } else if (*at != '\n') {
            if (reader->header_length < sizeof reader->header - 1)
                reader->header[reader->header_length++] = *at;
            at++;
            continue;
        } else {
            at++;
            reader->header[reader->header_length] = 0;
            reader->header_length = 0;
            take_line(reader);
        }
        if (reader->skip_byte_count == 0 && reader->pending_values == 0) {
            reader->answered++;
            reader->checked++;
        }
    }
}

// ---- Clocks: latencies, timers that epoll waits for, and processor time

static uint64_t latencies[LATENCY_COUNT], latency_count;

static uint64_t nanoseconds_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t nanoseconds_now(void) { return nanoseconds_of(CLOCK_MONOTONIC); }

// Counts a request that took so many nanoseconds; beyond a second it counts as a second.
static void record_latency(uint64_t nanoseconds) {
    uint64_t slot = (nanoseconds + 999) / 1000;  // up: a percentile is never too good
    latencies[slot < LATENCY_COUNT ? slot : LATENCY_COUNT - 1]++;
    latency_count++;
}

// The milliseconds that a share of the requests (0.99) did not exceed; 0 where none was counted.
static double latency_milliseconds(double share) {
    uint64_t seen = 0;
    for (int slot = 0; slot < LATENCY_COUNT; slot++) {
        seen += latencies[slot];
        if (seen > 0 && (double)seen >= share * (double)latency_count) return slot / 1000.0;
    }
    return 0;
}

static int poller;

static struct timespec time_of(double seconds) {
    time_t whole = (time_t)seconds;
    return (struct timespec){whole, (long)((seconds - (double)whole) * 1e9)};
}

// Lets `timer` ring after `first` seconds, then every `interval` (0: once). A timer of -1 is made, and
// the poller gives its address when it rings.
static void set_timer(int *timer, double first, double interval) {
    struct itimerspec times = {.it_value = time_of(first), .it_interval = time_of(interval)};
    times.it_value.tv_nsec++;  // all 0 would stop it
    if (*timer < 0) {
        *timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = timer};
        if (epoll_ctl(poller, EPOLL_CTL_ADD, *timer, &event) != 0) fail("timer");
    }
    if (timerfd_settime(*timer, 0, &times, NULL) != 0) fail("timer");
}

// How often it rang since the last call.
static uint64_t expirations(int timer) {
    uint64_t count = 0;
    return read(timer, &count, sizeof count) == sizeof count ? count : 0;
}

// All of it in seconds, since some fixed time; differences count.
typedef struct {
    double time, client;
    double server;       // on a CPU, all threads, by the kernel's nanoseconds
    double busy, steal;  // of all CPUs, by clock ticks
} usage;

// The kernel's run time of every thread: exact, where utime and stime are sampled by ticks.
static double thread_seconds(uint64_t server) {
    char path[512];
    snprintf(path, sizeof path, "/proc/%" PRIu64 "/task", server);
    DIR *tasks = opendir(path);
    if (!tasks) return 0;
    double sum = 0;
    for (struct dirent *task; (task = readdir(tasks));) {
        if (task->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "/proc/%" PRIu64 "/task/%s/schedstat", server, task->d_name);
        FILE *file = fopen(path, "r");
        if (!file) continue;
        unsigned long long nanoseconds;
        if (fscanf(file, "%llu", &nanoseconds) == 1) sum += (double)nanoseconds * 1e-9;
        fclose(file);
    }
    closedir(tasks);
    return sum;
}

static void read_machine_ticks(usage *now) {
    double tick = 1.0 / (double)sysconf(_SC_CLK_TCK);
    FILE *file = fopen("/proc/stat", "r");
    if (!file) return;
    unsigned long long user, nice, system, idle, wait, irq, softirq, steal;
    if (fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle,
            &wait, &irq, &softirq, &steal) == 8) {
        now->busy = (double)(user + nice + system + irq + softirq) * tick;
        now->steal = (double)steal * tick;
    }
    fclose(file);
}

// Reads all clocks, one right after the other; without a server its time is 0.
static usage usage_now(void) {
    usage now = {
        .time = (double)nanoseconds_now() * 1e-9,
        .client = (double)nanoseconds_of(CLOCK_PROCESS_CPUTIME_ID) * 1e-9,
        .server = asked.server ? thread_seconds(asked.server) : 0};
    read_machine_ticks(&now);
    return now;
}

// ---- Connections

typedef struct {
    int socket;
    bool is_reader;  // asks for first pages, and does not vote
    uint64_t sent;
    answer_reader reader;
    uint64_t *due;  // when each request in flight was due, where latencies are kept
} connection;

static connection *connections;
static uint64_t connection_count;
static int phase_timer = -1;
static int tick_timer = -1;    // every millisecond, where a loop is open
static uint64_t votes, pages;  // that were answered; pages without those of the reader
static uint64_t first_tick, ticks, due_now;  // when it began, how often it rang; the one in work
static uint64_t measured_since = UINT64_MAX;  // latencies count of requests due from then on
static uint64_t skipped;  // requests of an open loop for which there was no room, or no time
static uint64_t received_bytes;  // in the measured time
static char receive_buffer[RECEIVE_BYTE_COUNT];
static char send_buffer[MOST_IN_FLIGHT * REQUEST_BYTE_LIMIT];

static void open_connection(bool is_reader) {
    connection *connection = &connections[connection_count++];
    connection->is_reader = is_reader;
    if (asked.burst && !is_reader) connection->due = allocate(MOST_IN_FLIGHT, sizeof(uint64_t));
    connection->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection->socket < 0) fail("socket");
    int on = 1;
    setsockopt(connection->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)asked.port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    if (connect(connection->socket, (struct sockaddr *)&address, sizeof address) != 0) fail("connect");
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, connection->socket, &event) != 0) fail("epoll_ctl");
}

// One of the users of this connection, which is the only one that acts for them.
static uint64_t draw_voter(const connection *connection, uint64_t drawn) {
    uint64_t count = asked.connections, number = (uint64_t)(connection - connections);
    uint64_t share = (asked.voters + count - 1 - number) / count;
    return number + count * (uint64_t)(((unsigned __int128)drawn * share) >> 64);
}

static size_t write_ballot(const connection *connection, char *out, uint64_t id) {
    uint64_t drawn = random_number(&keys);
    return write_ballot_of(out, id, draw_voter(connection, drawn), drawn);
}

// Whether a request of a connection that votes is for a page: the same whenever it is asked.
static bool is_page(const connection *connection, uint64_t id) {
    key_source drawn = {.state = (uint64_t)(connection - connections) << 40 | id};
    return asked.page_share > 0 && random_number(&drawn) % 100 < asked.page_share;
}

static size_t write_page(const connection *connection, char *out, uint64_t id) {
    page page = {.order = asked.order, .window = asked.window};
    if (asked.voters) page.user = 1ull << 63 | draw_voter(connection, random_number(&keys));
    const answer_reader *reader = &connection->reader;
    if (asked.further) page.token = random_number(&keys) % 8 ? &reader->next : &reader->first;
    return write_page_of(out, id, page);
}

static size_t write_request(connection *connection, char *out) {
    static const unsigned orders[] = {1, 2, 4};  // TOP, NEW, HOT
    uint64_t id = ++connection->sent;
    if (connection->due) connection->due[id % MOST_IN_FLIGHT] = due_now;
    if (connection->is_reader) return write_page_of(out, id, (page){.order = orders[(id - 1) % 3]});
    if (is_page(connection, id)) return write_page(connection, out, id);
    if (asked.voters) return write_ballot(connection, out, id);
    return asked.batch_votes > 1 ? write_batch(out, id) : write_vote(out, id);
}

// Sends `count` requests in one write, which waits for room; answers never take so much that the
// server would wait for us meanwhile.
static void send_requests(connection *connection, uint64_t count) {
    size_t length = 0;
    for (uint64_t i = 0; i < count; i++) length += write_request(connection, send_buffer + length);
    if (length == 0) return;
    ssize_t sent = send(connection->socket, send_buffer, length, MSG_NOSIGNAL);
    if (sent < 0) fail("send");
    if ((size_t)sent != length) fail("a write was short");
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
    uint64_t now = nanoseconds_now();
    for (uint64_t id = first; id <= last; id++) {
        uint64_t due = connection->due[id % MOST_IN_FLIGHT];
        if (due >= measured_since) record_latency(now - due);
    }
}

static void read_answers(connection *connection) {
    ssize_t received = recv(connection->socket, receive_buffer, RECEIVE_BYTE_COUNT, MSG_DONTWAIT);
    if (received < 0 && errno == EAGAIN) return;
    if (received == 0) errno = ECONNRESET;
    if (received <= 0) fail("the server closed a connection");
    received_bytes += (uint64_t)received;
    const char *at = receive_buffer, *end = at + received;
    uint64_t before = connection->reader.answered;
    uint64_t every = connection->is_reader || asked.further ? 1 : asked.check_every;
    if (is_resp) read_resp(&connection->reader, at, end);
    else read_frames(&connection->reader, at, end, every);
    if (connection->is_reader) return;
    uint64_t last = connection->reader.answered;
    for (uint64_t id = before + 1; id <= last; id++) is_page(connection, id) ? pages++ : votes++;
    record_latencies(connection, before + 1, last);
    if (asked.vote_rate == 0) send_requests(connection, last - before);
}

// ---- The run

// Sends whole bursts of what is due, each over the connection whose turn it is.
static void send_bursts(uint64_t *votes_due) {
    static uint64_t turn;
    for (; asked.burst && *votes_due >= asked.burst * 1000; *votes_due -= asked.burst * 1000) {
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
    pages_due += milliseconds * asked.first_page_rate;
    send_bursts(&votes_due);
    if (asked.first_page_rate) send_due(&connections[asked.connections], pages_due / 1000);
    pages_due %= 1000;
}

// Lets so many seconds pass.
static void run_phase(double seconds) {
    set_timer(&phase_timer, seconds, 0);
    struct epoll_event events[EVENT_COUNT];
    for (;;) {
        bool rang = false;
        int count = epoll_wait(poller, events, EVENT_COUNT, SILENCE_MILLISECONDS);
        if (count < 0 && errno != EINTR) fail("epoll_wait");
        for (int i = 0; i < count; i++) {
            void *source = events[i].data.ptr;
            if (source == &phase_timer) rang = expirations(phase_timer) > 0;
            else if (source == &tick_timer) send_all_due(expirations(tick_timer));
            else read_answers(source);
        }
        if (rang) return;
        if (count == 0) errno = ETIMEDOUT, fail("no answer");
    }
}

static void open_all(void) {
    connections = allocate(asked.connections + 1, sizeof *connections);
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    for (uint64_t i = 0; i < asked.connections; i++) open_connection(false);
    if (asked.first_page_rate) open_connection(true);
}

// Sends what is in flight from the start; the rest follows answers, or the tick of an open loop.
static void start(void) {
    for (uint64_t i = 0; i < asked.connections && !asked.vote_rate; i++)
        send_requests(&connections[i], asked.in_flight);
    if (asked.vote_rate || asked.first_page_rate) set_timer(&tick_timer, 0.001, 0.001);
    first_tick = nanoseconds_now() + 1000000;
}

// Prints the result and returns the exit code: 1 where an answer was not what it had to be.
static int report(usage first, uint64_t votes_before, uint64_t pages_before) {
    usage last = usage_now();
    uint64_t checked = 0, refused = 0;
    for (const connection *one = connections; one < connections + connection_count; one++) {
        const answer_reader *reader = &one->reader;
        if (refused == 0 && reader->refused > 0)
            fprintf(stderr, "pump: a wrong answer: %s\n", reader->complaint);
        record_latencies(one, reader->answered + 1, one->sent);
        checked += reader->checked;
        refused += reader->refused;
    }
    if (checked == 0) fprintf(stderr, "pump: no answer was decoded, of those that came in the run.\n");
    printf("{\"seconds\": %.6f, \"votes\": %" PRIu64 ", \"pages\": %" PRIu64 ", ", last.time - first.time,
        (votes - votes_before) * asked.batch_votes, pages - pages_before);
    printf("\"received_bytes\": %" PRIu64 ", \"skipped\": %" PRIu64 ", ", received_bytes, skipped);
    printf("\"latencies\": %" PRIu64 ", \"p50_ms\": %.3f, \"p99_ms\": %.3f, \"p999_ms\": %.3f, ",
        latency_count, latency_milliseconds(0.5), latency_milliseconds(0.99), latency_milliseconds(0.999));
    printf("\"checked\": %" PRIu64 ", \"refused\": %" PRIu64 ", ", checked, refused);
    printf("\"server_seconds\": %.6f, \"client_seconds\": %.6f, ", last.server - first.server,
        last.client - first.client);
    printf("\"busy_seconds\": %.2f, \"steal_seconds\": %.2f}\n", last.busy - first.busy,
        last.steal - first.steal);
    return refused > 0 || checked == 0;
}

int main(int count, char **arguments) {
    signal(SIGPIPE, SIG_IGN);
    read_options(count, arguments);
    keys.state = asked.seed;
    if (asked.zipf > 0) draw_zipf(asked.posts);
    poller = epoll_create1(EPOLL_CLOEXEC);
    open_all();
    start();
    run_phase(asked.warmup_seconds);
    measured_since = nanoseconds_now();
    skipped = received_bytes = 0;
    usage first = usage_now();
    uint64_t votes_before = votes, pages_before = pages;
    run_phase(asked.seconds);
    return report(first, votes_before, pages_before);
}
